"""The configuration LP on larger instances, against the best bounds known of them."""

from pathlib import Path
from typing import Any

import pytest

import prefixplace_opt as pp


@pytest.mark.parametrize(
    "name",
    [
        "rag-d20-m4-b10-g1.5-requ-s1",
        "rag-d20-m4-b10-g3.0-pair-s1",
        "rag-d20-m4-b10-g3.0-requ-s1",
        "rag-d20-m4-b5-g1.5-requ-s1",
        "rag-d20-m4-b5-g3.0-requ-s1",
        "rag-d40-m6-b5-g1.5-requ-s1",
        "rag-d40-m6-b10-g3.0-requ-s1",
    ],
)
def test_bound_lies_between_the_known_ones(
    name: str, shared: Path, rag_bounds: dict[str, dict[str, Any]]
) -> None:
    problem = pp.read_problem(shared / "cases" / "rag" / f"{name}.json")
    result = pp.solve(problem, method="config-lp", gap=0.0)
    known = rag_bounds[name]
    assert result.statistics["lp_value"] is not None
    assert result.upper <= known["upper"] * (1 + 1e-6)
    assert result.upper >= known["lower"] * (1 - 1e-12)
