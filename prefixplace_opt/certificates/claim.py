"""From a placement and a solver's proof to a certificate that the verifier accepts.

What the solver believes of its own bound plays no part: the claim is what the proof shows in the
verifier's directed arithmetic, whose bound is never below the exact one, rounded up to a double.
So both arithmetics accept it. Only where savings or prices are so unlike in size that 64 bits are
too coarse, and the instance is small enough for exact arithmetic, the claim is made in the latter.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from prefixplace_opt.problem import (
    Branch,
    InputError,
    Leaf,
    Placement,
    Problem,
    Proof,
    Savings,
    SolverError,
    savings,
)

from .certificate import Certificate, FixedChunks, Node, ServicePrices, Withheld
from .dyadic import at_least, at_most
from .integer_savings import IntegerSavings, exact_value
from .shortening import shortened
from .verifier import default_arithmetic, proof_faults, proven_bound

#: Share of a bound that directed rounding may add to it.
COARSE = Fraction(1, 10**10)


def certificate_of(problem: Problem, placement: Placement, proof: Proof) -> Certificate:
    """Return the certificate of ``placement`` with the bound that ``proof`` shows.

    ``lower`` is the placement's exact value rounded down to a double. Where all savings are
    multiples of one number that a double near the bound can tell apart, it is stated as the
    granularity, and the bound is rounded down to it. Parts of the proof that do not improve its
    bound are left out.

    Raises
    ------
    InputError
        Where the placement belongs to another problem.
    SolverError
        Where the proof's tree is not whole: a fault of the method that made it.
    """
    if placement.instance != problem.digest:
        raise InputError("expected a placement of this instance", field="placement.instance")
    value = exact_value(problem, placement.held(problem.n))
    prices, nodes = _translated(savings(problem), problem, proof)
    certificate = Certificate(
        instance=problem.digest,
        objective=problem.objective,
        resident=placement.resident,
        lower=at_most(value),
        upper=0.0,
        prices=prices,
        nodes=nodes,
    )
    faults = proof_faults(problem, certificate)
    if faults:
        raise SolverError(f"the proof is unsound: {faults[0]}")
    proven = proven_bound(problem, certificate, "directed")
    coarse = proven.slack > COARSE * proven.bound
    if coarse and default_arithmetic(problem, certificate) == "exact":
        proven = proven_bound(problem, certificate, "exact")
    bound = proven.bound
    step = granularity(problem, bound)
    unit = Fraction(0) if step is None else Fraction(step)
    if unit:
        bound = bound // unit * unit
    # Fixed chunks that improve nothing are left out, with all that follows from them.
    idle = [at for at, alone in proven.as_leaves.items() if alone < bound + unit or alone == bound]
    short = shortened(certificate, idle) if idle else certificate
    return replace(short, upper=at_least(bound), granularity=step)


def granularity(problem: Problem, bound: Fraction) -> float | None:
    """Return a number of which all savings are multiples, or None where none is of use.

    That is their greatest common divisor, or where no double holds it the largest power of two
    that divides it; of use where ``bound`` is less than 2**53 times as large.
    """
    multiples = IntegerSavings(problem, (), "exact")
    least = bound / 2**53 / multiples.unit
    divisor = 0
    for counts in multiples.row_multiples():
        divisor = int(np.gcd.reduce(counts, initial=divisor))
        if 0 < divisor < least:
            return None
    if divisor == 0:
        return None
    step = divisor * multiples.unit
    if Fraction(float(step)) != step:
        step = (divisor & -divisor) * multiples.unit
    # Where no bound asks for more, the multiples may be too small for a double.
    return float(step) if step * 2**53 >= bound and float(step) > 0 else None


def _translated(
    form: Savings, problem: Problem, proof: Proof
) -> tuple[list[ServicePrices], list[Node]]:
    """Name the rows of the normal form by requester and chunk; leave out unused price vectors."""
    used = sorted({node.prices for node in proof.nodes if not isinstance(node, Branch)})
    number = {old: new for new, old in enumerate(used)}
    chunk_of_row = problem.tree.order[form.row_position]
    prices = []
    for old in used:
        own = proof.prices[old]
        prices.append(
            ServicePrices(
                form.row_requester[own.rows],
                chunk_of_row[own.rows],
                own.values,
                Withheld(own.worker, own.chunk, own.withheld),
            )
        )
    nodes: list[Node] = []
    for node in proof.nodes:
        if isinstance(node, Branch):
            nodes.append(node)
        elif isinstance(node, Leaf):
            nodes.append(Leaf(number[node.prices]))
        else:
            nodes.append(
                FixedChunks(
                    prices=number[node.prices],
                    worker=[decision.worker for decision in node.decisions],
                    chunk=[decision.chunk for decision in node.decisions],
                    inside=[decision.inside for decision in node.decisions],
                    child=node.child,
                )
            )
    return prices, nodes
