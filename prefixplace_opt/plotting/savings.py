"""What each plan saves, side by side, with the proven bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError

from .figure import INK, PALETTE, canvas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


#: Bars longer than this share of the longest bear their label inside.
LABEL_INSIDE = 0.4


def draw_savings(
    values: Mapping[str, float],
    *,
    upper: float | None = None,
    whole: float | None = None,
    best: str | None = None,
    title: str = "Savings per epoch",
) -> Figure:
    """Draw a bar a plan.

    Parameters
    ----------
    values
        Savings of each plan by its name, ms per epoch, in the order of the bars from the top.
    upper
        A proven bound, drawn as a line.
    whole
        The cost with nothing cached, ms per epoch; bars then also show their share of it.
    best
        The plan to stress; the one with the largest value where it is None.

    Raises
    ------
    InputError
        Where there is no value, or one that is not finite and >= 0.
    """
    if not values:
        raise InputError("expected at least one plan to draw, got none", field="values")
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InputError(
                f"expected a finite number >= 0, got {value!r}", field=f"values[{name!r}]"
            )
    stressed = best if best is not None else max(values, key=lambda name: values[name])
    names = list(values)
    heights = list(values.values())
    top = max([*heights, upper or 0.0]) or 1.0
    unit, scale = ("s", 1000.0) if top >= 10_000 else ("ms", 1.0)
    with canvas(8.5, 1.3 + 0.34 * len(names)) as figure:
        axes = figure.add_subplot()
        bars = axes.barh(
            names,
            [height / scale for height in heights],
            height=0.68,
            color=[PALETTE[0] if name == stressed else "#b7c4d1" for name in names],
        )
        for bar, name, height in zip(bars, names, heights, strict=True):
            share = f"   {100 * height / whole:.2f} %" if whole else ""
            inside = height > LABEL_INSIDE * top
            axes.annotate(
                f"{height / scale:,.1f} {unit}{share}",
                (bar.get_width(), bar.get_y() + bar.get_height() / 2),
                xytext=(-6 if inside else 6, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center",
                color="white" if inside and name == stressed else INK,
                fontweight="bold" if name == stressed else "normal",
            )
        if upper is not None:
            axes.axvline(upper / scale, color=PALETTE[5], linewidth=1.4, linestyle=(0, (4, 2)))
            axes.annotate(
                "proven bound",
                (upper / scale, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                color=PALETTE[5],
                fontsize=8.5,
            )
        axes.invert_yaxis()
        axes.set_xlim(0, 1.04 * top / scale)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axes.set_xlabel(
            f"{unit} saved per epoch" + (", and share of recomputing all" if whole else "")
        )
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_title(title, pad=18 if upper is not None else 8)
    return figure
