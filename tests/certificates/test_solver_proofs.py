"""What the solvers prove, the verifier accepts: on the handed cases and on random problems."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt import read_problem, solve
from prefixplace_opt.certificates import certificate_of, verify
from tests import brute_force
from tests.strategies import problems

BOTH = ("exact", "directed")


def test_cases_are_proven_optimal_in_both_arithmetics(case_path, expected):
    problem = read_problem(case_path)
    optimum = Fraction(expected[problem.name]["optimum"])
    result = solve(problem, method="exact")
    assert result.status == "optimal"
    certificate = certificate_of(problem, result.placement, result.proof)
    assert Fraction(certificate.lower) == Fraction(certificate.upper) == optimum
    for arithmetic in BOTH:
        report = verify(problem, certificate, arithmetic=arithmetic)
        assert report.accepted
        assert report.optimal
        assert report.value == report.bound == optimum


def test_rag_bounds_are_what_the_solver_says(rag_case_path):
    problem = read_problem(rag_case_path)
    result = solve(problem, method="auto", gap=1e-4, node_limit=2)
    certificate = certificate_of(problem, result.placement, result.proof)
    assert certificate.upper <= result.upper * (1 + 1e-10)
    report = verify(problem, certificate)
    assert report.accepted
    assert result.status != "optimal" or report.optimal
    assert result.status == "node-limit" or report.gap <= 1.0001e-4


@given(problems(chunks=6, workers=3), st.sampled_from([0.0, 0.1]))
@settings(max_examples=60)
def test_proofs_of_small_problems_are_as_good_as_the_solver_says(problem, gap):
    """Fixed chunks, branches and inherited prices, and their granularity."""
    optimum, _ = brute_force.optimum(problem)
    result = solve(problem, method="auto", gap=gap)
    certificate = certificate_of(problem, result.placement, result.proof)
    for arithmetic in BOTH:
        report = verify(problem, certificate, arithmetic=arithmetic)
        assert report.accepted
        assert report.value <= optimum <= report.bound
        assert report.bound <= Fraction(result.upper) * (1 + Fraction(1e-9))
    assert result.status != "optimal" or report.optimal
