"""Incumbent and bound of a run over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError
from prefixplace_opt.report.table import percent

from .figure import PALETTE, canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from prefixplace_opt.solvers.run import Progress


def draw_progress(events: Sequence[Progress], *, title: str = "Incumbent and bound") -> Figure:
    """Draw what a run told its ``progress`` callback: the gap is the area between the lines.

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
    with canvas(8.5, 3.6) as (figure, axes):
        axes.plot(
            seconds, upper, drawstyle="steps-post", color=PALETTE[5], label="bound", linewidth=1.6
        )
        axes.plot(
            seconds,
            lower,
            drawstyle="steps-post",
            color=PALETTE[0],
            label="incumbent",
            linewidth=1.8,
        )
        axes.fill_between(
            seconds, lower, upper, step="post", color=PALETTE[0], alpha=0.08, linewidth=0
        )
        axes.set_xlabel("seconds")
        axes.set_ylabel("ms saved per epoch")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.margins(y=0.15)
        axes.set_xlim(0, 1.02 * seconds[-1] or 1.0)
        figure.legend(loc="outside lower left", ncols=2)
        axes.set_title(f"{title}: gap {percent(events[-1].gap, 3)}")
    return figure
