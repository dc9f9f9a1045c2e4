"""The prefix tree as a flame graph, with a stripe a worker where it holds a chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefixplace_opt.problem import InputError

from .figure import INK, PALE, canvas, colours
from .tree_layout import tree_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from prefixplace_opt.problem import Placement, Problem

    from .tree_layout import TreeLayout

ROW_GAP = 0.14
#: Rectangles at least this wide (of the whole) bear the chunk's id.
LABEL_WIDTH = 0.022
#: Workers beyond this number share stripes too thin to see.
MOST_WORKERS = 32


def draw_tree(
    problem: Problem,
    placement: Placement | None = None,
    *,
    title: str | None = None,
    most_chunks: int = 2000,
    most_rows: int = 40,
) -> Figure:
    """Draw the forest from the roots down; a chunk is as wide as the requests that need it.

    Each rectangle is cut into a stripe a worker, in the worker's colour where it holds the chunk
    and pale where it does not.

    Parameters
    ----------
    problem
        The instance.
    placement
        Who holds what; without one the bare tree is drawn.
    title
        Heading; one is made up where it is None.
    most_chunks, most_rows
        Of larger forests the most demanded chunks are drawn, and the heading says so.

    Raises
    ------
    InputError
        Where the placement is of another instance, or the forest is empty.
    """
    if problem.n == 0:
        raise InputError("expected a forest with chunks to draw, got none", field="tree")
    if placement is not None and placement.instance != problem.digest:
        raise InputError("expected a placement of this instance", field="placement")
    layout = tree_layout(problem, most_chunks=most_chunks, most_rows=most_rows)
    rows = int(layout.depth.max()) + 1
    stripes = min(problem.m, MOST_WORKERS) if placement is not None else 1
    height = 1.4 + rows * min(0.95, max(0.16, 0.075 * stripes + 0.1))
    with canvas(10.5, min(max(height, 2.6), 10.0)) as figure:
        axes = figure.add_subplot()
        _rectangles(axes, problem, placement, layout, stripes)
        _labels(axes, layout)
        axes.set_xlim(0, 1)
        axes.set_ylim(rows - ROW_GAP, -ROW_GAP)
        axes.set_xticks([])
        every = max(1, rows // 12)
        ticks = list(range(0, rows, every))
        axes.set_yticks([row + (1 - ROW_GAP) / 2 for row in ticks], [str(row) for row in ticks])
        axes.tick_params(length=0)
        axes.set_ylabel("depth, chunks")
        whole = layout.chunk.size == problem.n
        axes.set_xlabel(
            "width: requests per epoch that need the chunk"
            if whole
            else "width: requests per epoch that need the drawn chunks below"
        )
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(title if title is not None else _title(problem, placement, layout))
        if placement is not None:
            _legend(figure, problem, placement, stripes)
    return figure


def _rectangles(
    axes: Axes, problem: Problem, placement: Placement | None, layout: TreeLayout, stripes: int
) -> None:
    from matplotlib.collections import PolyCollection

    gap = min(0.0015, 0.15 / layout.chunk.size)
    left = layout.left + gap / 2
    right = np.maximum(layout.left + layout.width - gap / 2, left + layout.width * 0.4)
    band = (1 - ROW_GAP) / stripes
    boxes: list[Any] = []
    fills: list[Any] = []
    held = None if placement is None else placement.held(problem.n)[:, layout.chunk]
    palette = colours(problem.m)
    empty = (0.914, 0.925, 0.937)
    plain = (0.62, 0.70, 0.78)
    for stripe in range(stripes):
        top = layout.depth + stripe * band
        bottom = top + band * (0.86 if stripes > 1 else 1.0)
        corners = np.stack(
            [
                np.stack([left, top], axis=1),
                np.stack([right, top], axis=1),
                np.stack([right, bottom], axis=1),
                np.stack([left, bottom], axis=1),
            ],
            axis=1,
        )
        boxes.extend(corners)
        if held is None:
            fills.extend([plain] * layout.chunk.size)
        else:
            fills.extend(palette[stripe] if own else empty for own in held[stripe])
    axes.add_collection(PolyCollection(boxes, facecolors=fills, linewidths=0, closed=True))


def _labels(axes: Axes, layout: TreeLayout) -> None:
    if layout.chunk.size > 80:
        return
    for chunk, left, width, depth in zip(
        layout.chunk.tolist(), layout.left, layout.width, layout.depth, strict=True
    ):
        if width >= LABEL_WIDTH:
            axes.text(
                left + width / 2,
                depth + (1 - ROW_GAP) / 2,
                str(chunk),
                ha="center",
                va="center",
                fontsize=7.5,
                color=INK,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
            )


def _legend(figure: Figure, problem: Problem, placement: Placement, stripes: int) -> None:
    from matplotlib.patches import Patch

    entries = []
    for worker, chunks, colour in zip(
        problem.workers[:stripes], placement.resident, colours(stripes), strict=False
    ):
        kind = f" ({worker.hardware})" if worker.hardware else ""
        label = f"{worker.name}{kind}: {chunks.size}/{worker.budget}"
        entries.append(Patch(facecolor=colour, label=label))
    entries.append(Patch(facecolor=PALE, label="not held"))
    figure.legend(
        handles=entries, loc="outside lower left", ncols=5, fontsize=8.5, handlelength=1.2
    )


def _title(problem: Problem, placement: Placement | None, layout: TreeLayout) -> str:
    parts = [problem.name or "prefix tree"]
    if placement is not None:
        parts.append(f"saves {placement.value:,.0f} ms per epoch")
    cuts = []
    drawn = layout.chunk.size
    if drawn < problem.n:
        cuts.append(f"the {drawn:,} most demanded of {problem.n:,} chunks")
    levels = int(layout.depth.max()) + 1
    if levels < problem.tree.height:
        cuts.append(f"first {levels:,} of {problem.tree.height:,} levels")
    if problem.m > MOST_WORKERS and placement is not None:
        cuts.append(f"first {MOST_WORKERS} of {problem.m} workers")
    return "\n".join(", ".join(line) for line in (parts, cuts) if line)
