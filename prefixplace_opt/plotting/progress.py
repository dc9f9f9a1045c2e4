"""Incumbent and bound of a run over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError
from prefixplace_opt.report.table import percent

from .figure import INK, PALETTE, canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from prefixplace_opt.solvers.run import Progress


#: Gaps are drawn down to this one; smaller ones lie on the floor.
SMALLEST_GAP = 1e-6


def draw_progress(events: Sequence[Progress], *, title: str = "Incumbent and bound") -> Figure:
    """Draw what a run told its ``progress`` callback: values above, their gap below.

    Raises
    ------
    InputError
        Where there is no event.
    """
    if not events:
        raise InputError("expected at least one event to draw, got none", field="events")
    seconds = [event.seconds for event in events]
    lower = [event.lower if event.lower > 0 else math.nan for event in events]
    upper = [event.upper if math.isfinite(event.upper) else math.nan for event in events]
    gap = [100 * max(event.gap, SMALLEST_GAP) for event in events]
    with canvas(8.5, 4.8) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
        above.step(seconds, upper, where="post", color=PALETTE[5], label="bound")
        above.step(seconds, lower, where="post", color=PALETTE[0], label="incumbent")
        above.fill_between(
            seconds, lower, upper, step="post", color=PALETTE[0], alpha=0.08, linewidth=0
        )
        above.set_ylabel("ms saved per epoch")
        above.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        above.margins(y=0.15)
        above.legend(loc="best")
        above.set_title(f"{title}: gap {percent(events[-1].gap, 4)}")
        below.step(seconds, gap, where="post", color=INK)
        below.set_yscale("log")
        below.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        below.set_ylabel("gap")
        below.set_xlabel("seconds")
        below.set_xlim(0, 1.02 * seconds[-1] or 1.0)
    return figure
