"""The verifier: believes nothing but the instance, and recomputes everything a certificate claims.

It shares no code with the solvers: savings, value, bounds and tree programs are its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Branch, Problem

from .bound import node_bounds
from .certificate import Certificate, FixedChunks
from .decisions import tree_faults
from .integer_savings import Arithmetic, IntegerSavings, exact_value
from .report import Rejection, Report
from .withheld import MOST_WORKERS

Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Up to this many cells of tree programs the arithmetic is exact by default, about two seconds.
EXACT_CELLS = 4_000_000

#: Relative distance of lower and upper at which a placement counts as optimal by default.
OPTIMAL_TOLERANCE = 1e-9


def verify(
    problem: Problem,
    certificate: Certificate,
    *,
    arithmetic: Arithmetic | None = None,
    tolerance: float = OPTIMAL_TOLERANCE,
) -> Report:
    """Check that ``lower <= F(placement)`` and that no placement of ``problem`` exceeds ``upper``.

    Parameters
    ----------
    problem
        The instance: the only thing that is believed.
    certificate
        The claim and its proof.
    arithmetic
        ``"exact"``: rationals, as integers of any size. ``"directed"``: 64-bit integers, every
        saving rounded up, which may reject a true claim (by a relative 1e-10 or less) and never
        accepts a false one. By default exact up to :data:`EXACT_CELLS` cells of tree programs. The
        placement's value and the granularity are exact either way.
    tolerance
        See :attr:`Report.optimal`.
    """
    start = time.perf_counter()
    chosen = arithmetic or default_arithmetic(problem, certificate)
    value: Fraction | None = None
    bound: Fraction | None = None
    reasons = list(_identity_faults(problem, certificate)) or list(_number_faults(certificate))
    if not reasons:
        held, placement_faults = _held(problem, certificate)
        reasons += placement_faults
        if not placement_faults:
            value = exact_value(problem, held)
            reasons += _lower_fault(certificate, value)
        reasons += _granularity_fault(problem, certificate)
        unsound = proof_faults(problem, certificate)
        reasons += unsound
        if not unsound:
            proven = proven_bound(problem, certificate, chosen)
            bound = proven.bound
            reasons += _upper_fault(certificate, proven)
    return Report(
        accepted=not reasons,
        reasons=tuple(reasons),
        lower=certificate.lower,
        upper=certificate.upper,
        value=value,
        bound=bound,
        arithmetic=chosen,
        tolerance=tolerance,
        leaves=sum(not isinstance(node, Branch | FixedChunks) for node in certificate.nodes),
        refuted=sum(node.chunk.size for node in certificate.nodes if isinstance(node, FixedChunks)),
        seconds=time.perf_counter() - start,
    )


def default_arithmetic(problem: Problem, certificate: Certificate) -> Arithmetic:
    """Return ``"exact"`` for as many cells of tree programs as that takes about two seconds."""
    programs = sum(
        1 + 3 * isinstance(node, FixedChunks)
        for node in certificate.nodes
        if not isinstance(node, Branch)
    )
    cells = programs * int(problem.budgets.sum() + problem.m) * problem.n
    # Sets of workers from which something is withheld, each looked at for every row.
    for prices in certificate.prices:
        _, width = np.unique(prices.withheld.chunk, return_counts=True)
        cells += problem.m * int((2 ** np.minimum(width, MOST_WORKERS)).sum())
    return "exact" if cells <= EXACT_CELLS else "directed"


@dataclass(frozen=True)
class ProvenBound:
    """What a proof shows to be no less than the optimum.

    Attributes
    ----------
    bound, node
        The bound, and the node that is highest.
    as_leaves
        What the nodes with fixed chunks would prove as leaves, not rounded to the granularity.
    slack
        About the most by which rounding can have raised the bound.
    """

    bound: Fraction
    node: int
    as_leaves: dict[int, Fraction]
    slack: Fraction


def proven_bound(problem: Problem, certificate: Certificate, arithmetic: Arithmetic) -> ProvenBound:
    """Return the largest bound of the tree's nodes, rounded down to the granularity.

    The prices and the tree must be sound. Every value of F is a multiple of the granularity, so
    the optimum does not exceed the largest multiple below the bound.
    """
    savings = IntegerSavings(problem, certificate.prices, arithmetic)
    highest, worst = -1, 0
    as_leaves: dict[int, Fraction] = {}
    for at, bound, whole in node_bounds(problem, certificate, savings, floor=None):
        if whole is not None and isinstance(certificate.nodes[at], FixedChunks):
            as_leaves[at] = whole * savings.unit
        if bound is not None and bound > highest:
            highest, worst = bound, at
    # To hold nothing is a placement, so some node of a whole tree has a bound.
    result = max(highest, 0) * savings.unit
    if certificate.granularity is not None:
        step = Fraction(certificate.granularity)
        result = result // step * step
    terms = int(problem.budgets.sum()) * problem.m
    terms += max(
        (own.value.size + own.withheld.value.size for own in certificate.prices), default=0
    )
    slack = Fraction(0) if arithmetic == "exact" else 4 * terms * savings.unit
    return ProvenBound(result, worst, as_leaves, slack)


def proof_faults(problem: Problem, certificate: Certificate) -> list[Rejection]:
    """Return what keeps prices and tree from proving anything; empty for a sound proof."""
    return [
        *_price_faults(problem, certificate),
        *tree_faults(certificate, problem.m, problem.n),
    ]


def savings_are_multiples(problem: Problem, step: Fraction) -> bool:
    """Whether all savings, of which every F is a sum, are multiples of ``step``; exact."""
    savings = IntegerSavings(problem, (), "exact")
    ratio = step / savings.unit
    return not any(
        (counts.astype(object) * ratio.denominator % ratio.numerator).any()
        for counts in savings.row_multiples()
    )


def _identity_faults(problem: Problem, certificate: Certificate) -> Iterator[Rejection]:
    if certificate.instance != problem.digest:
        yield Rejection(
            "instance",
            "instance",
            f"expected the instance's digest {problem.digest}, got {certificate.instance!r:.70}",
        )
    if certificate.objective != problem.objective:
        yield Rejection(
            "objective",
            "objective",
            f"expected {problem.objective!r}, got {certificate.objective!r:.60}",
        )


def _number_faults(certificate: Certificate) -> Iterator[Rejection]:
    for name in ("lower", "upper", "granularity"):
        number = getattr(certificate, name)
        if number is None:
            continue
        if not (math.isfinite(number) and number >= 0) or (name == "granularity" and not number):
            least = "> 0" if name == "granularity" else ">= 0"
            yield Rejection("number", name, f"expected a finite number {least}, got {number!r}")
    for at, prices in enumerate(certificate.prices):
        for where, values in (("", prices.value), (".withheld", prices.withheld.value)):
            bad = ~((values >= 0) & np.isfinite(values))
            if bad.any():
                row = int(np.argmax(bad))
                yield Rejection(
                    "number",
                    f"prices[{at}]{where}.value[{row}]",
                    f"expected a finite number >= 0, got {float(values[row])!r}",
                )


def _held(problem: Problem, certificate: Certificate) -> tuple[Mask, list[Rejection]]:
    held = np.zeros((problem.m, problem.n), dtype=np.bool_)
    found = len(certificate.resident)
    if found != problem.m:
        message = f"expected a list for each of {problem.m} workers, got {found}"
        return held, [Rejection("placement", "resident", message)]
    parents = problem.tree.parents
    faults = []

    def fault(where: str, message: str) -> None:
        faults.append(Rejection("placement", where, message))

    for m, chunks in enumerate(certificate.resident):
        where = f"resident[{m}]"
        unknown = (chunks < 0) | (chunks >= problem.n)
        if unknown.any():
            at = int(np.argmax(unknown))
            fault(f"{where}[{at}]", f"expected a chunk from 0 to {problem.n - 1}, got {chunks[at]}")
            continue
        held[m, chunks] = True
        if np.count_nonzero(held[m]) < chunks.size:
            fault(where, "expected every chunk once, but one stands there twice")
        budget = problem.workers[m].budget
        if chunks.size > budget:
            fault(where, f"expected at most {budget} chunks, got {chunks.size}")
        orphans = held[m] & (parents >= 0) & ~held[m, parents]
        if orphans.any():
            b = int(np.argmax(orphans))
            fault(where, f"chunk {b} is held without its parent {parents[b]}")
    return held, faults


def _lower_fault(certificate: Certificate, value: Fraction) -> Iterator[Rejection]:
    if Fraction(certificate.lower) > value:
        yield Rejection(
            "lower",
            "lower",
            f"expected at most the placement's value {_shown(value)}, got {certificate.lower!r}",
        )


def _granularity_fault(problem: Problem, certificate: Certificate) -> Iterator[Rejection]:
    step = certificate.granularity
    if step is not None and not savings_are_multiples(problem, Fraction(step)):
        yield Rejection(
            "granularity",
            "granularity",
            f"expected a number of which all savings are multiples, got {step!r}",
        )


def _price_faults(problem: Problem, certificate: Certificate) -> Iterator[Rejection]:
    requesters = problem.m
    if problem.objective == "requester":
        requesters = int(problem.groups.max()) + 1
    for at, prices in enumerate(certificate.prices):
        yield from _cell_faults(
            problem,
            f"prices[{at}]",
            {"requester": (prices.requester, requesters), "chunk": (prices.chunk, problem.n)},
            "row",
        )
        withheld = prices.withheld
        where = f"prices[{at}].withheld"
        yield from _cell_faults(
            problem,
            where,
            {"worker": (withheld.worker, problem.m), "chunk": (withheld.chunk, problem.n)},
            "worker and chunk",
        )
        chunk, count = np.unique(withheld.chunk, return_counts=True)
        if count.max(initial=0) > MOST_WORKERS:
            b = int(np.argmax(count))
            message = (
                f"expected at most {MOST_WORKERS} workers a chunk, got {count[b]} for {chunk[b]}"
            )
            yield Rejection("prices", where, message)


def _cell_faults(
    problem: Problem, where: str, columns: dict[str, tuple[Index, int]], what: str
) -> Iterator[Rejection]:
    """Yield what is wrong with two lists that are to name pairs, a chunk being the second."""
    known = True
    for name, (values, size) in columns.items():
        unknown = (values < 0) | (values >= size)
        if unknown.any():
            known = False
            row = int(np.argmax(unknown))
            message = f"expected 0 to {size - 1}, got {values[row]}"
            yield Rejection("prices", f"{where}.{name}[{row}]", message)
    first, second = (values for values, _ in columns.values())
    cells = first.astype(np.int64) * problem.n + second
    if known and np.unique(cells).size < cells.size:
        yield Rejection("prices", where, f"expected every {what} once, but one stands there twice")


def _upper_fault(certificate: Certificate, proven: ProvenBound) -> Iterator[Rejection]:
    if Fraction(certificate.upper) < proven.bound:
        yield Rejection(
            "upper",
            "upper",
            f"expected at least {_shown(proven.bound)}, the bound of node {proven.node}, "
            f"got {certificate.upper!r}",
        )


def _shown(number: Fraction) -> str:
    """Return a whole number as it is, another one as a decimal and, where short, the fraction."""
    exact = str(number)
    if number.denominator == 1 and len(exact) <= 60:
        return exact
    decimal = f"{Decimal(number.numerator) / Decimal(number.denominator):.17g}"
    return f"{decimal} ({exact})" if len(exact) <= 60 else f"about {decimal}"
