"""Family ``chat``: conversations that grow turn by turn below shared system prompts.

Each of ``sessions`` conversations starts with one of ``system_prompts`` (drawn in proportion to
``rank ** -zipf``; each a root chain of 1 to ``system_chunks_max`` chunks) and has a geometric
number of turns of mean ``turns_mean``, at most ``turns_max``. A turn (question and answer) appends
1 to ``turn_chunks_max`` chunks and is one request that ends there. All turns weigh the same.
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
class ChatParameters(TrafficParameters):
    """Parameters of the family ``chat``."""

    sharing: float = parameter(
        0.2, "share of a session's requests that leave its home worker", least=0, most=1
    )
    sessions: int = parameter(60, "conversations", least=1, most=10**6)
    system_prompts: int = parameter(4, "shared system prompts", least=1, most=10**5)
    system_chunks_max: int = parameter(4, "chunks of the longest", least=1, most=10**5)
    zipf: float = parameter(1.0, "exponent of the system prompts' popularity", least=0, most=10)
    turns_mean: float = parameter(4.0, "mean number of turns", least=1, most=10**5)
    turns_max: int = parameter(20, "most turns", least=1, most=10**5)
    turn_chunks_max: int = parameter(2, "most chunks of a turn", least=1, most=10**5)


def chat(parameters: ChatParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("chat", seed, "tree")
    growth = Growth()
    prompts = [
        growth.chain(-1, draw.between(1, parameters.system_chunks_max))
        for _ in range(parameters.system_prompts)
    ]
    popularity = zipf(10**9, parameters.system_prompts, parameters.zipf)
    turns: list[tuple[int, int]] = []
    for session in range(parameters.sessions):
        last = prompts[draw.weighted(popularity)]
        for _ in range(draw.geometric(parameters.turns_mean, parameters.turns_max)):
            last = growth.chain(last, draw.between(1, parameters.turn_chunks_max))
            turns.append((last, session))
    shares = apportion(parameters.units, [1] * len(turns))
    for (last, session), units in zip(turns, shares, strict=True):
        growth.visit(last, units, session)
    return problem_of_growth(growth, parameters, "chat", seed)
