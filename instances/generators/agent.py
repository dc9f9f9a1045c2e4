"""Family ``agent``: tool loops with long contexts that only grow, below shared tool preambles.

The descriptions of ``tools_chunks`` chunks are common to all; each of ``kinds`` of agents adds
instructions of 1 to ``instruction_chunks_max`` chunks. A task belongs to a kind (drawn in
proportion to ``rank ** -zipf``) and loops a geometric number of steps of mean ``steps_mean``, at
most ``steps_max``. A step appends 1 to ``step_chunks_max`` chunks (the call and what the tool
said) and is one request; with probability ``retry`` it starts again from before the step that
preceded it, and the context branches. All steps weigh the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .apportion import apportion, zipf
from .draw import Draw
from .parameters import parameter
from .traffic import Growth, TrafficParameters, problem_of_growth

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem


@dataclass(frozen=True, kw_only=True)
class AgentParameters(TrafficParameters):
    """Parameters of the family ``agent``."""

    sharing: float = parameter(
        0.1, "share of a task's requests that leave its home worker", least=0, most=1
    )
    tasks: int = parameter(25, "tasks", least=1, most=10**6)
    kinds: int = parameter(3, "kinds of agents", least=1, most=10**5)
    zipf: float = parameter(1.0, "exponent of the kinds' popularity", least=0, most=10)
    tools_chunks: int = parameter(6, "chunks of the tool descriptions", least=0, most=10**5)
    instruction_chunks_max: int = parameter(
        4, "chunks of the longest instructions", least=1, most=10**5
    )
    steps_mean: float = parameter(10.0, "mean number of steps", least=1, most=10**5)
    steps_max: int = parameter(60, "most steps", least=1, most=10**5)
    step_chunks_max: int = parameter(3, "most chunks of a step", least=1, most=10**5)
    retry: float = parameter(0.1, "probability that a step is a second try", least=0, most=1)


def agent(parameters: AgentParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("agent", seed, "tree")
    growth = Growth()
    tools = growth.chain(-1, parameters.tools_chunks)
    kinds = [
        growth.chain(tools, draw.between(1, parameters.instruction_chunks_max))
        for _ in range(parameters.kinds)
    ]
    popularity = zipf(10**9, parameters.kinds, parameters.zipf)
    steps: list[tuple[int, int]] = []
    for task in range(parameters.tasks):
        before = last = kinds[draw.weighted(popularity)]
        for _ in range(draw.geometric(parameters.steps_mean, parameters.steps_max)):
            start = before if draw.chance(parameters.retry) else last
            before = start
            last = growth.chain(start, draw.between(1, parameters.step_chunks_max))
            steps.append((last, task))
    shares = apportion(parameters.units, [1] * len(steps))
    for (last, task), units in zip(steps, shares, strict=True):
        growth.visit(last, units, task)
    return problem_of_growth(growth, parameters, "agent", seed)
