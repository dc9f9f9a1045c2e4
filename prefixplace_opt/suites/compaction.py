"""Make a certificate's file small: prices with as few digits as the proof needs.

A node's bound holds at any prices, so prices may be rounded as long as every bound stays below
what is to be proven. Most nodes have slack, and equal vectors are then stored once.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from prefixplace_opt.certificates import Certificate, ServicePrices, Withheld
from prefixplace_opt.certificates.bound import node_bounds
from prefixplace_opt.certificates.dyadic import at_least
from prefixplace_opt.certificates.integer_savings import IntegerSavings
from prefixplace_opt.certificates.verifier import proven_bound
from prefixplace_opt.instances.suites.entry import PROVEN
from prefixplace_opt.problem import Branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefixplace_opt.problem import Problem

#: Significant digits that are tried for the largest price; the last resort is all of them.
DIGITS = (4, 6, 8, 10)
#: Share of the tolerance of a proven optimum that rounding may use up.
USABLE = Fraction(9, 10)
#: Relative amount by which rounding may raise a bound that proves no optimum.
LOOSER = Fraction(1, 10**7)


def compacted(problem: Problem, certificate: Certificate) -> Certificate:
    """Return a certificate of the same placement whose prices have fewer digits.

    A bound that proves the placement optimal still does; another one rises by a relative 1e-7 at
    most.
    """
    target = _target(certificate)
    chosen: list[ServicePrices | None] = [None] * len(certificate.prices)
    for digits in DIGITS:
        left = [at for at, own in enumerate(chosen) if own is None]
        prices = list(certificate.prices)
        for at in left:
            prices[at] = _rounded(prices[at], digits)
        for at in _sufficient(problem, certificate, prices, left, target):
            chosen[at] = prices[at]
    prices = [own or full for own, full in zip(chosen, certificate.prices, strict=True)]
    return _claimed(problem, _without_repetition(certificate, prices))


def _target(certificate: Certificate) -> Fraction:
    lower, upper = Fraction(certificate.lower), Fraction(certificate.upper)
    optimal = lower * (1 + USABLE * Fraction(PROVEN))
    return optimal if upper <= optimal else upper * (1 + LOOSER)


def _rounded(prices: ServicePrices, digits: int) -> ServicePrices:
    largest = max(prices.value.max(initial=0.0), prices.withheld.value.max(initial=0.0))
    if not largest:
        return prices
    decimals = digits - 1 - int(np.floor(np.log10(largest)))
    value = np.maximum(np.round(prices.value, decimals), 0.0)
    kept = value > 0
    withheld = prices.withheld
    amount = np.round(withheld.value, decimals)
    some = amount > 0
    return ServicePrices(
        prices.requester[kept],
        prices.chunk[kept],
        value[kept],
        Withheld(withheld.worker[some], withheld.chunk[some], amount[some]),
    )


def _sufficient(
    problem: Problem,
    certificate: Certificate,
    prices: Sequence[ServicePrices],
    asked: Sequence[int],
    target: Fraction,
) -> set[int]:
    """Return which of the ``asked`` vectors keep the bounds of their nodes down to ``target``."""
    candidate = replace(certificate, prices=tuple(prices))
    savings = IntegerSavings(problem, candidate.prices, "directed")
    step = None if certificate.granularity is None else Fraction(certificate.granularity)
    good = set(asked)
    floor = int(target // savings.unit)
    for at, bound, _ in node_bounds(problem, candidate, savings, good.copy(), floor):
        node = candidate.nodes[at]
        if bound is None or isinstance(node, Branch):
            continue
        value = bound * savings.unit
        if step is not None:
            value = value // step * step
        if value > target:
            good.discard(node.prices)
    return good


def _without_repetition(certificate: Certificate, prices: Sequence[ServicePrices]) -> Certificate:
    number: dict[bytes, int] = {}
    place = []
    kept: list[ServicePrices] = []
    for own in prices:
        parts = (own.requester, own.chunk, own.value)
        held_back = (own.withheld.worker, own.withheld.chunk, own.withheld.value)
        key = b"/".join(part.tobytes() for part in (*parts, *held_back))
        if key not in number:
            number[key] = len(kept)
            kept.append(own)
        place.append(number[key])
    nodes = tuple(
        node if isinstance(node, Branch) else replace(node, prices=place[node.prices])
        for node in certificate.nodes
    )
    return replace(certificate, prices=tuple(kept), nodes=nodes)


def _claimed(problem: Problem, certificate: Certificate) -> Certificate:
    bound = proven_bound(problem, certificate, "directed").bound
    return replace(certificate, upper=at_least(bound))
