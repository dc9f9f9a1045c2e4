"""docs/certificates.md and its checker: what they show is true."""

import base64
import gzip
import json
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.certificates import (
    certificate_from_document,
    document_of_certificate,
    verify,
)
from prefixplace_opt.certificates.verifier import proof_faults, proven_bound
from prefixplace_opt.problem import (
    AffineCost,
    DenseCost,
    InterpolatedCost,
    LinkCost,
    PairwiseCost,
    Problem,
    UniformCost,
)
from prefixplace_opt.problem.instance_file import document_of_problem, problem_from_document
from tests.certificates.proofs import certificates, tight_certificate
from tests.strategies import problems

DOCS = Path(__file__).resolve().parents[2] / "docs"
CHECKER = DOCS / "check_certificate.py"
checker = runpy.run_path(str(CHECKER))
check, ClaimError = checker["check"], checker["ClaimError"]


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
    done = run(*paths)
    assert done.returncode == 0
    assert "worth 180, none is worth more than 180" in done.stdout


def run(*arguments) -> subprocess.CompletedProcess[str]:
    """The checker as a program, without site packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(CHECKER), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_without_the_second_price_says_182():
    (instance,) = blocks("instance")
    weaker = blocks("certificate")[1] | {"tree": [{"prices": 1}], "upper": 182}
    assert check(instance, weaker) == (180, 182)
    with pytest.raises(ClaimError, match="upper is too low"):
        check(instance, weaker | {"upper": 181})


@st.composite
def priced(draw: st.DrawFn, integral: bool = False) -> Problem:
    """Small problems whose costs come from every kind of table that there is."""
    problem = draw(problems(chunks=4, workers=2, integral=integral))
    m, n = problem.m, problem.n
    positive = st.floats(2.0**-99, 9)
    numbers = st.integers(0, 9).map(float) if integral else st.one_of(st.just(0.0), positive)

    def array(*shape: int, entries=numbers) -> np.ndarray:
        size = int(np.prod(shape))
        return np.reshape(draw(st.lists(entries, min_size=size, max_size=size)), shape)

    def curve() -> InterpolatedCost:
        count = draw(st.integers(1, 4))
        # One token apart whole values have whole slopes.
        tokens = sorted(draw(st.sets(positive, min_size=count, max_size=count)))
        return InterpolatedCost(range(count) if integral else tokens, array(m, count))

    tables = {
        "uniform": lambda: UniformCost(draw(numbers)),
        "dense": lambda: DenseCost(array(m, n)),
        "affine": lambda: AffineCost(array(m), array(m)),
        "table": curve,
    }
    unfetchable = st.one_of(numbers, st.just(np.inf))
    rates = st.sampled_from([0.0, 0.008, 0.002]) if integral else numbers
    links = {
        "null": lambda: UniformCost(np.inf),
        "holes": lambda: DenseCost(array(m, n, entries=unfetchable)),
        "links": lambda: LinkCost(array(m, entries=rates), array(m)),
    }
    if problem.objective == "pairwise":
        links["pairs"] = lambda: LinkCost(array(m, m, entries=rates), array(m, m))
        links["pairwise"] = lambda: PairwiseCost(array(m, m, n, entries=unfetchable))
    return replace(
        problem,
        recompute=tables[draw(st.sampled_from(sorted(tables)))](),
        fetch=(tables | links)[draw(st.sampled_from(sorted(tables | links)))](),
    )


def written_otherwise(value):
    """The same document with every array of numbers in base64."""
    if isinstance(value, dict):
        return {key: written_otherwise(item) for key, item in value.items()}
    if not isinstance(value, list) or not value:
        return value
    try:
        array = np.array(value)
    except ValueError:
        return [written_otherwise(item) for item in value]
    if array.dtype.kind not in "if" or not array.size:
        return [written_otherwise(item) for item in value]
    kind = "<f8" if array.dtype.kind == "f" else "<i4"
    packed = base64.b64encode(array.astype(kind).tobytes()).decode()
    return {"base64": packed, "dtype": kind, "shape": list(array.shape)}


@given(priced(), st.data())
@settings(max_examples=80)
def test_the_checker_finds_the_same_bounds_as_the_verifier(problem, data):
    instance = document_of_problem(problem)
    certificate = data.draw(certificates(problem))
    document = document_of_certificate(certificate) | {"upper": 1e300}
    if proof_faults(problem, certificate):
        with pytest.raises(ClaimError, match="decided on twice"):
            check(instance, document)
        return
    bound = proven_bound(problem, certificate, "exact").bound
    assert check(instance, document) == (0, bound)
    assert check(written_otherwise(instance), written_otherwise(document)) == (0, bound)
    dense = instance | {"demand": {"dense": problem.demand.dense().tolist()}}
    assert check(dense, document) == (0, bound)


def test_repeated_demand_adds_in_its_order():
    (instance,) = blocks("instance")
    entries = {"worker": [0] * 3, "chunk": [0] * 3, "value": [0.1, 0.2, 0.3]}
    repeated = instance | {"demand": {"sparse": entries}}
    problem = problem_from_document(repeated)
    assert problem.demand.value.tolist() == [0.1 + 0.2 + 0.3]
    assert 0.1 + 0.2 + 0.3 != 0.1 + (0.2 + 0.3)
    claim = blocks("certificate")[0] | {"instance": problem.digest, "lower": 0}
    assert check(repeated, claim) == check(document_of_problem(problem), claim)


@given(priced(integral=True))
@settings(max_examples=30)
def test_the_checker_accepts_tight_certificates_and_no_better_claims(problem):
    instance = document_of_problem(problem)
    document = document_of_certificate(tight_certificate(problem))
    value, bound = check(instance, document)
    assert value == bound == Fraction(document["lower"]) == Fraction(document["upper"])
    with pytest.raises(ClaimError, match="lower is too high"):
        check(instance, document | {"lower": document["lower"] + 1})
    if bound:
        with pytest.raises(ClaimError, match="upper is too low"):
            check(instance, document | {"upper": document["upper"] - 1})


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_the_checker_checks_what_the_readme_makes(objective, tmp_path):
    problem = pp.generate("rag", documents=20, workers=4, seed=1, objective=objective)
    result = pp.solve(problem, gap=1e-4, node_limit=3)
    certificate = pp.certify(problem, result)
    paths = tmp_path / "instance.json.gz", tmp_path / "certificate.json"
    pp.write_problem(problem, paths[0])
    pp.write_certificate(certificate, paths[1])
    report = pp.verify(problem, certificate, arithmetic="exact")
    found = check(*(json.loads(unpacked(path)) for path in paths))
    assert found == (report.value, report.bound)
    done = run(*paths)
    assert (done.returncode, done.stdout[:9]) == (0, "accepted:")


def unpacked(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def test_the_checker_gives_reasons_instead_of_tracebacks(tmp_path):
    (instance,) = blocks("instance")
    certificate = blocks("certificate")[1]
    good = tmp_path / "instance.json"
    good.write_text(json.dumps(instance))
    path = tmp_path / "c.json"

    def outcome(status, words, **changed):
        path.write_text(json.dumps(certificate | changed))
        done = run(good, path)
        assert (done.returncode, done.stderr) == (status, "")
        assert words in done.stdout

    outcome(1, "upper is too low: 179, but the bound is 180", upper=179)
    outcome(1, "instance: it is of another one", instance="0" * 64)
    outcome(1, "resident[0]: not prefix-complete", resident=[[2], []])
    outcome(1, "resident[1]: over budget", resident=[[], [0, 1, 2]])
    outcome(1, "prices[0]: unknown or repeated", prices=2 * [{
        "requester": [0, 0], "chunk": [1, 1], "value": [1, 2]}])  # fmt: skip
    outcome(1, "tree[0]: a child comes before its parent", tree=[
        {"worker": 0, "chunk": 0, "in": 0, "out": 1}, {"prices": 0}])  # fmt: skip
    fixed = {"worker": [1], "chunk": [1], "in": [1]}
    outcome(1, "tree[1]: decided on twice", tree=[{"prices": 0, "fixed": fixed, "child": 1}, {
        "prices": 0, "fixed": fixed, "child": 2}, {"prices": 0}])  # fmt: skip
    outcome(1, "tree: a node has no parent", tree=[{"prices": 0}, {"prices": 1}])
    outcome(1, "tree[2]: no such prices", tree=[certificate["tree"][0], *2 * [{"prices": 2}]])
    outcome(1, "granularity: some saving", granularity=4)
    outcome(2, "not of the format", format="else")
    outcome(2, "not of the format", prices=[{"requester": [0], "chunk": [], "value": [1]}])
    path.write_text("{")
    assert (run(good, path).returncode, run(good, path).stderr) == (2, "")
    assert "cannot be read" in run(good, tmp_path / "none.json").stdout
    assert run(good).returncode == 2
