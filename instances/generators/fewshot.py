"""Family ``fewshot``: many short queries behind a few example lists.

Each of ``tasks`` has instructions of 1 to ``instruction_chunks_max`` chunks, and below them
``lists`` lists of ``shots`` examples, a chunk each. The lists of a task begin with the same
examples and part at a depth that is uniform over the list. Every list ends in ``queries`` leaves
of one chunk. The task of rank r is asked for in proportion to ``r ** -zipf``, its lists in
proportion to uniform numbers, the queries of a list alike.
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
class FewshotParameters(TrafficParameters):
    """Parameters of the family ``fewshot``."""

    tasks: int = parameter(8, "tasks", least=1, most=10**6)
    zipf: float = parameter(0.9, "exponent of the tasks' popularity", least=0, most=10)
    instruction_chunks_max: int = parameter(
        2, "chunks of the longest instructions", least=1, most=10**5
    )
    lists: int = parameter(3, "example lists of a task", least=1, most=10**5)
    shots: int = parameter(6, "examples of a list", least=1, most=10**5)
    queries: int = parameter(5, "queries behind each list", least=1, most=10**6)


def fewshot(parameters: FewshotParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("fewshot", seed, "tree")
    growth = Growth()
    popularity = zipf(parameters.units, parameters.tasks, parameters.zipf)
    for task, units in enumerate(popularity):
        instructions = growth.chain(-1, draw.between(1, parameters.instruction_chunks_max))
        first = [instructions]
        for list_units in draw.skewed(units, parameters.lists, 1):
            shared = draw.below(parameters.shots) if len(first) > 1 else 0
            path = first[: shared + 1]
            while len(path) <= parameters.shots:
                path.append(growth.chain(path[-1], 1))
            first = first if len(first) > 1 else path
            for share in apportion(list_units, [1] * parameters.queries):
                growth.visit(growth.chain(path[-1], 1), share, task)
    return problem_of_growth(growth, parameters, "fewshot", seed)
