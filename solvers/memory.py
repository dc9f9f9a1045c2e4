"""How much memory a run needs, and what is done to stay within a limit.

The figures are sums over the arrays that are alive together at the worst moment, in bytes; what the
interpreter, the compiled code and the allocator take is :data:`BASE`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prefixplace_opt.problem import CapacityError, InputError
from prefixplace_opt.problem.costs import PairwiseCost

from .tree_oracle import TABLE_MEMORY

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

#: The interpreter with everything imported and compiled.
BASE = 320 << 20
#: Bytes of decisions below which a dynamic programme is not squeezed.
LEAST_TABLE = 1 << 20

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    f"{prefix}I": 2 ** (10 * power) for power, prefix in enumerate("KMGT", 1)
}


@dataclass(frozen=True)
class Allowance:
    """What a run may use at once.

    Attributes
    ----------
    threads
        Starts of the planner that are worked on at the same time.
    table
        Bytes for the decisions of one dynamic programme.
    """

    threads: int
    table: int


def allow(problem: Problem, threads: int, limit: int | None) -> Allowance:
    """Return how many of ``threads`` the planner may use within ``limit`` bytes.

    Fewer threads, and smaller tables of decisions worked through twice, are the lean path; neither
    changes a result.

    Raises
    ------
    CapacityError
        Where even that takes more than ``limit``; the message says how much it takes.
    """
    if limit is None:
        return Allowance(threads, TABLE_MEMORY)
    shared = BASE + shared_bytes(problem)
    each = start_bytes(problem)
    for wanted, table in ((threads, TABLE_MEMORY), (threads, LEAST_TABLE)):
        if shared + wanted * (each + table) <= limit:
            return Allowance(wanted, table)
    fitting = int((limit - shared) // (each + LEAST_TABLE))
    if fitting < 1:
        needed = shared + each + LEAST_TABLE
        raise CapacityError(
            f"planning {problem.n:,} chunks on {problem.m} workers with {len(problem.demand):,} "
            f"demand entries takes about {written(needed)} at the least, and the memory limit is "
            f"{written(limit)}"
        )
    return Allowance(fitting, LEAST_TABLE)


def shared_bytes(problem: Problem) -> int:
    """Return what the problem, its normal form and its result take, whatever the threads."""
    n, m, entries = problem.n, problem.m, len(problem.demand)
    tree = 28 * n
    costs: int = sum(
        array.nbytes
        for table in (problem.recompute, problem.fetch)
        for array in vars(table).values()
        if hasattr(array, "nbytes")
    )
    given = tree + 16 * entries + costs
    columns = m if isinstance(problem.fetch, PairwiseCost) else 1
    rows = _rows(problem) * (28 + 8 * columns)
    building = entries * (64 + 8 * columns) + 16 * n
    form = 12 * entries + rows
    # The plan by position and by id, the ids, and one pass of the objective over the entries.
    result = 3 * n * m + 4 * int(problem.budgets.sum()) + 48 * entries
    return given + form + max(building, result) + n * m


def start_bytes(problem: Problem) -> int:
    """Return what one start of the planner takes: an oracle, the holders, a worker's profits."""
    return problem.n * (53 + problem.m + 26) + 20 * _rows(problem)


def proof_shortfall(problem: Problem, limit: int | None) -> str:
    """Return what a proof takes beside ``limit`` where it does not fit; empty where it does."""
    needed = BASE + shared_bytes(problem) + start_bytes(problem) + proof_bytes(problem)
    if limit is None or needed <= limit:
        return ""
    return f"a proof takes about {written(needed)}, and the memory limit is {written(limit)}"


def proof_bytes(problem: Problem) -> int:
    """Return what the Lagrangian bound takes beside a plan: an entry a (service row, holder)."""
    return _rows(problem) * problem.m * 52 + problem.n * problem.m * 76


def _rows(problem: Problem) -> int:
    """Return the most service rows that the normal form may have."""
    entries = len(problem.demand)
    return entries if problem.objective == "pairwise" else min(entries, problem.n)


def parse_bytes(text: str) -> int:
    """Return the bytes that ``"4GiB"``, ``"500 MB"`` or ``"1073741824"`` stand for.

    Raises
    ------
    InputError
        For anything else.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text, re.IGNORECASE)
    unit = None if match is None else UNITS.get(match[2].upper())
    if match is None or unit is None or float(match[1]) * unit < 1:
        raise InputError(
            f"expected an amount of memory such as 4GiB or 500MB, got {text!r}",
            field="memory_limit",
        )
    return int(float(match[1]) * unit)


def written(amount: int) -> str:
    """Return an amount of memory for people."""
    return f"{amount / 2**30:.2f} GiB" if amount >= 2**30 else f"{amount / 2**20:.0f} MiB"
