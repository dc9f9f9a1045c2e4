"""Figures off screen, in one look, and the same bytes for the same content."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.file_bytes import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours that readers with any colour vision can tell apart (Okabe and Ito), then shades of them.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#7F7F00")
INK = "#1b1f24"
PALE = "#e9ecef"
FORMATS = ("png", "svg", "pdf")
# Empty metadata entries keep dates and versions out of the files.
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
LOOK: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": "#8b949e",
    "axes.labelcolor": INK,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": "#57606a",
    "ytick.color": INK,
    "legend.frameon": False,
    "savefig.dpi": 144,
    "svg.hashsalt": "prefixplace_opt",
}


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """Give a new figure of that many inches, to be drawn on in our own look.

    The look does not depend on the user's matplotlib settings.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        yield Figure(figsize=(width, height), layout="constrained")


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF by the name's ending; all or nothing.

    The same figure gives the same bytes under the same version of matplotlib.

    Raises
    ------
    InputError
        For another ending, or where the file cannot be written.
    """
    import matplotlib as mpl

    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(
            f"expected a name that ends in {', '.join('.' + name for name in FORMATS)}",
            source=os.fspath(path),
        )
    stream = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        figure.savefig(stream, format=kind, metadata=METADATA[kind])
    write_bytes(path, stream.getvalue())


def colours(count: int) -> list[tuple[float, float, float]]:
    """Return ``count`` colours; beyond the palette its lighter and darker shades."""
    from matplotlib.colors import to_rgb

    result = []
    for at in range(count):
        red, green, blue = to_rgb(PALETTE[at % len(PALETTE)])
        step = at // len(PALETTE)
        if step == 0:
            result.append((red, green, blue))
            continue
        share = 1 / (1 + (step + 1) // 2)
        white = 1.0 if step % 2 else 0.0
        mixed = [share * part + (1 - share) * white for part in (red, green, blue)]
        result.append((mixed[0], mixed[1], mixed[2]))
    return result
