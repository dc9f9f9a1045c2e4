"""A thousand ways to tamper with certificates: none is accepted unless its claim is still true.

Whether it is true is found by exhaustion: lower is at most the placement's value, upper at least
the optimum. What a proof shows of it is judged by the theorem, by exhaustion as well.
"""

import copy
import gzip
import json
import random
from fractions import Fraction

import numpy as np
import pytest

from prefixplace_opt.certificates import (
    Certificate,
    certificate_from_document,
    document_of_certificate,
    read_certificate,
    verify,
)
from prefixplace_opt.problem import (
    Demand,
    DenseCost,
    InputError,
    PairwiseCost,
    PrefixTree,
    Problem,
    Worker,
)
from tests import brute_force
from tests.certificates.proofs import bound_by_exhaustion, tight_certificate

MUTATIONS = 2000
BITS = 250


def instance(objective: str, whole: bool, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n, m = 4, 2

    def array(*shape: int) -> np.ndarray:
        return rng.integers(0, 10, shape) if whole else rng.random(shape) * 10

    fetch = array(m, m, n) if objective == "pairwise" else array(m, n)
    fetch = np.where(rng.random(fetch.shape) < 0.2, np.inf, fetch / 2)
    return Problem(
        tree=PrefixTree([-1, 0, 0, -1] if seed % 2 else [-1, 0, 1, 0]),
        workers=[Worker("a", 2), Worker("b", 2)],
        demand=Demand.from_dense(array(m, n), shape=(m, n)),
        recompute=DenseCost(array(m, n)),
        fetch=(PairwiseCost if objective == "pairwise" else DenseCost)(fetch),
        objective=objective,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def victims() -> list[tuple[Problem, dict, Fraction]]:
    """Instances with tight certificates, some with trees of decisions, and their optima."""
    found = []
    for objective in ("requester", "pairwise"):
        for whole in (True, False):
            for seed in range(4):
                problem = instance(objective, whole, seed)
                document = document_of_certificate(tight_certificate(problem))
                found.append((problem, document, brute_force.optimum(problem)[0]))
    assert max(len(document["tree"]) for _, document, _ in found) > 5
    return found


def places(node, path=()):
    """Paths of all members and entries of a JSON document."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def mutate(document: dict, rng: random.Random) -> dict:
    """Change one or two places of a certificate."""
    mutant = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2])):
        # Every member of the format alike, whatever its size.
        member = rng.choice(list(mutant))
        path = rng.choice([place for place in places(mutant) if place[0] == member])
        owner = mutant
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = changed(owner[path[-1]], rng)
        if owner[path[-1]] is None or rng.random() < 0.1:
            del owner[path[-1]]
    return mutant


def changed(value, rng: random.Random):
    if isinstance(value, str):
        at = rng.randrange(len(value)) if value else 0
        return rng.choice(
            [value[:at] + rng.choice("0123456789abcdef") + value[at + 1 :], "", value[:at]]
        )
    if isinstance(value, dict):
        return rng.choice([None, {}, {**value, "more": 1}, [value]])
    if isinstance(value, list):
        if not value:
            return [rng.randrange(3)]
        shuffled = rng.sample(value, len(value))
        return rng.choice([None, value[:-1], value[1:], value + value[-1:], shuffled])
    near = [value + 1, value - 1, value * 2, value // 2, 0, rng.randrange(6), -value]
    fine = [
        float(np.nextafter(value, np.inf)),
        float(np.nextafter(value, -np.inf)),
        value * (1 + 1e-9),
        value * (1 - 1e-9),
        value * rng.random() * 2,
        1e300,
        5e-324,
        "1",
        True,
    ]
    return rng.choice(near + fine)


def claim_is_true(problem: Problem, certificate: Certificate, optimum: Fraction) -> bool:
    """By exhaustion, in exact rationals."""
    if certificate.instance != problem.digest or len(certificate.resident) != problem.m:
        return False
    sets = [chunks.tolist() for chunks in certificate.resident]
    parents = problem.tree.parents.tolist()
    for worker, held in zip(problem.workers, sets, strict=True):
        if len(set(held)) < len(held) or len(held) > worker.budget:
            return False
        if any(not 0 <= b < problem.n for b in held):
            return False
        if any(parents[b] >= 0 and parents[b] not in held for b in held):
            return False
    value = brute_force.value(brute_force.all_savings(problem), [frozenset(held) for held in sets])
    return Fraction(certificate.lower) <= value and Fraction(certificate.upper) >= optimum


@pytest.mark.parametrize("arithmetic", ["exact", "directed"])
def test_no_mutation_is_accepted_unless_its_claim_is_still_true(victims, arithmetic):
    rng = random.Random(f"mutations, {arithmetic}")  # noqa: S311
    accepted = rejected = malformed = wrong = 0
    for count in range(MUTATIONS):
        problem, document, optimum = victims[count % len(victims)]
        mutant = mutate(document, rng)
        try:
            certificate = certificate_from_document(mutant)
        except InputError:
            malformed += 1
            continue
        report = verify(problem, certificate, arithmetic=arithmetic)
        true = claim_is_true(problem, certificate, optimum)
        if report.accepted:
            assert true, mutant
            assert report.bound >= bound_by_exhaustion(problem, certificate) or (
                certificate.granularity is not None
            )
            accepted += 1
        else:
            assert report.reasons
            rejected += 1
        wrong += not true
    # The mutations bite, and the verifier does not reject everything.
    assert malformed > MUTATIONS / 10
    assert rejected > MUTATIONS / 4
    assert accepted > MUTATIONS / 50
    assert wrong > MUTATIONS / 6


@pytest.mark.parametrize("arithmetic", ["exact", "directed"])
def test_the_certificates_themselves_are_accepted_and_tight(victims, arithmetic):
    for problem, document, optimum in victims:
        certificate = certificate_from_document(document)
        report = verify(problem, certificate, arithmetic=arithmetic)
        assert report.accepted
        assert report.optimal
        assert report.value == optimum
        assert claim_is_true(problem, certificate, optimum)


def test_any_other_instance_rejects_them(victims):
    for at, (problem, document, _) in enumerate(victims):
        certificate = certificate_from_document(document)
        for other, _, _ in victims[:at] + victims[at + 1 :]:
            faults = [reason.fault for reason in verify(other, certificate).reasons]
            assert "instance" in faults
            assert ("objective" in faults) == (other.objective != problem.objective)


@pytest.mark.parametrize("packed", [False, True])
def test_damaged_files_are_rejected_or_still_true(victims, tmp_path, packed):
    """Bits turned over and bytes cut off, in plain and in packed files."""
    rng = random.Random(f"bits {packed}")  # noqa: S311
    path = tmp_path / "c.json"
    for count in range(BITS):
        problem, document, optimum = victims[count % len(victims)]
        raw = json.dumps(document).encode()
        raw = bytearray(gzip.compress(raw, mtime=0) if packed else raw)
        if count % 4 == 0:
            raw = raw[: rng.randrange(len(raw))]
        else:
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
        try:
            certificate = read_certificate(path)
        except InputError as error:
            assert error.source == str(path)  # noqa: PT017
            continue
        if verify(problem, certificate).accepted:
            assert claim_is_true(problem, certificate, optimum)
