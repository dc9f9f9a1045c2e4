"""Compacted certificates are smaller, prove the same, and keep their placement."""

import json
from dataclasses import replace

import numpy as np
import pytest

from prefixplace_opt import generate, solve
from prefixplace_opt.certificates import (
    ServicePrices,
    certificate_of,
    document_of_certificate,
    verify,
)
from prefixplace_opt.problem import Branch, Leaf
from prefixplace_opt.suites import compacted


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
@pytest.mark.parametrize("node_limit", [1, None])
def test_a_proof_survives_compaction(objective: str, node_limit: int | None) -> None:
    problem = generate("rag", documents=3, workers=3, objective=objective, seed=4)
    result = solve(problem, method="exact", gap=0.0, node_limit=node_limit)
    whole = certificate_of(problem, result.placement, result.proof)
    small = compacted(problem, whole)
    report = verify(problem, small)
    assert report.accepted
    assert report.optimal == verify(problem, whole).optimal
    assert small.lower == whole.lower
    assert small.upper <= whole.upper * (1 + 1.1e-7)
    for before, after in zip(whole.resident, small.resident, strict=True):
        assert np.array_equal(before, after)
    assert len(small.nodes) == len(whole.nodes)
    sizes = [len(json.dumps(document_of_certificate(each))) for each in (small, whole)]
    assert sizes[0] < sizes[1]


def test_prices_that_become_equal_are_stored_once() -> None:
    problem = generate("star", leaves=6, workers=2, seed=1)
    result = solve(problem, method="exact", gap=0.0)
    whole = certificate_of(problem, result.placement, result.proof)
    prices = whole.prices[0]
    other = ServicePrices(prices.requester, prices.chunk, prices.value * (1 + 1e-15))
    split = replace(
        whole,
        prices=[prices, other],
        nodes=[Branch(worker=0, chunk=0, inside=1, outside=2), Leaf(0), Leaf(1)],
        upper=whole.upper * 1.01,
    )
    assert verify(problem, split).accepted
    small = compacted(problem, split)
    assert len(small.prices) == 1
    assert verify(problem, small).accepted


def test_nothing_to_prove_is_no_obstacle() -> None:
    problem = generate("degenerate", case="zero-demand")
    result = solve(problem, method="exact", gap=0.0)
    whole = certificate_of(problem, result.placement, result.proof)
    assert verify(problem, compacted(problem, whole)).optimal
