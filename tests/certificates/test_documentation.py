"""docs/certificates.md and its checker: what they show is true."""

import json
import re
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt.certificates import (
    certificate_from_document,
    document_of_certificate,
    verify,
)
from prefixplace_opt.certificates.verifier import proven_bound
from prefixplace_opt.problem.instance_file import document_of_problem, problem_from_document
from tests.certificates.proofs import certificates, tight_certificate
from tests.strategies import problems

DOCS = Path(__file__).resolve().parents[2] / "docs"
CHECKER = DOCS / "check_certificate.py"
check = runpy.run_path(str(CHECKER))["check"]


def blocks(kind: str) -> list[dict]:
    text = (DOCS / "certificates.md").read_text("utf-8")
    return [
        json.loads(found) for found in re.findall(rf"```json {kind}\n(.*?)```", text, re.DOTALL)
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_the_examples_are_accepted_as_optimal(which, tmp_path):
    (instance,) = blocks("instance")
    document = blocks("certificate")[which]
    problem = problem_from_document(instance)
    for arithmetic in ("exact", "directed"):
        certificate = certificate_from_document(document | {"granularity": 2})
        report = verify(problem, certificate, arithmetic=arithmetic)
        assert report.accepted
        assert report.optimal
    assert verify(problem, certificate_from_document(document)).bound == 180
    assert check(instance, document) == (180, 180)
    paths = []
    for name, content in (("instance", instance), ("certificate", document)):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(content))
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(CHECKER), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "worth 180, none is worth more than 180" in done.stdout


def test_the_example_without_the_second_price_says_182():
    (instance,) = blocks("instance")
    weaker = blocks("certificate")[1] | {"tree": [{"prices": 1}], "upper": 182}
    assert check(instance, weaker) == (180, 182)
    with pytest.raises(AssertionError, match="upper is too low"):
        check(instance, weaker | {"upper": 181})


@given(problems(chunks=5, workers=2, integral=False), st.data())
@settings(max_examples=80)
def test_the_checker_finds_the_same_bounds_as_the_verifier(problem, data):
    """It evaluates no goodput, so such instances are left to the package."""
    instance = document_of_problem(problem)
    if isinstance(instance["fetch"], dict) and "goodput_gbps" in instance["fetch"]:
        return
    certificate = data.draw(certificates(problem))
    document = document_of_certificate(certificate) | {"upper": 1e300}
    value, bound = check(instance, document)
    assert value == 0
    assert bound == proven_bound(problem, certificate, "exact").bound


@given(problems(chunks=4, workers=2))
@settings(max_examples=40)
def test_the_checker_accepts_tight_certificates_and_no_better_claims(problem):
    instance = document_of_problem(problem)
    if isinstance(instance["fetch"], dict) and "goodput_gbps" in instance["fetch"]:
        return
    document = document_of_certificate(tight_certificate(problem))
    value, bound = check(instance, document)
    assert value == bound == Fraction(document["lower"]) == Fraction(document["upper"])
    with pytest.raises(AssertionError, match="lower is too high"):
        check(instance, document | {"lower": document["lower"] + 1})
    if bound:
        with pytest.raises(AssertionError, match="upper is too low"):
            check(instance, document | {"upper": document["upper"] - 1})
