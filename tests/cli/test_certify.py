"""`prefixplace certify`, `prefixplace verify` and `prefixplace solve --certificate`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import certify, read_certificate, read_problem, solve, verify

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def placement(run: Run, tiny: Path, tmp_path: Path) -> Path:
    path = tmp_path / "popular.json"
    assert run("solve", tiny, "-m", "popularity", "-o", path)[0] == 0
    return path


@pytest.fixture
def certificate(run: Run, tiny: Path, placement: Path, tmp_path: Path) -> Path:
    path = tmp_path / "c.json"
    assert run("certify", tiny, placement, "-o", path)[0] == 0
    return path


def changed(path: Path, **members: object) -> Path:
    path.write_text(json.dumps(json.loads(path.read_text()) | members))
    return path


def test_any_placement_is_bounded_and_its_certificate_accepted(
    run: Run, tiny: Path, placement: Path, certificate: Path
) -> None:
    stated = json.loads(placement.read_text())
    claim = read_certificate(certificate)
    assert claim.lower == stated["value"]
    assert [chunks.tolist() for chunks in claim.resident] == stated["resident"]
    code, out, err = run("verify", tiny, certificate)
    assert code == 0
    assert "accepted" in out
    assert err == ""


def test_a_gap_that_is_missed_is_a_failed_check(run: Run, tiny: Path, placement: Path) -> None:
    changed(placement, resident=[[], []], value=0)
    code, out, err = run("certify", tiny, placement, "--gap", 0, "--json")
    document = json.loads(out)
    assert document["lower"] < document["upper"]
    assert document["better_known"] > document["lower"]
    assert code == 1
    assert "gap target missed" in err
    code, out, _ = run("certify", tiny, placement, "--gap", 1)
    assert code == 0
    assert "a better one is worth" in out


def test_the_gap_is_that_of_the_placement_given(run: Run, tmp_path: Path) -> None:
    instance, start = tmp_path / "i.json", tmp_path / "p.json"
    made = ("rag", "--documents", 12, "--workers", 4, "--objective", "pairwise", "--seed", 3)
    assert run("generate", *made, "-o", instance)[0] == 0
    assert run("solve", instance, "-m", "local-dedup", "-o", start)[0] == 0
    best = solve(read_problem(instance), method="exact").upper
    value = json.loads(start.read_text())["value"]
    off = 1 - value / best
    assert off > 0.01
    code, out, _ = run("certify", instance, start, "--gap", 1.001 * off, "--json")
    assert code == 0
    assert json.loads(out)["gap"] <= 1.001 * off
    code, _, err = run("certify", instance, start, "--gap", off / 2)
    assert code == 1
    assert "a better plan shows to be out of reach" in err


def test_a_proof_that_does_not_fit_is_refused_before_it_is_tried(
    run: Run, tiny: Path, placement: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    certificate = tmp_path / "c.json"
    for command in (
        ("certify", tiny, placement, "-o", certificate),
        ("solve", tiny, "--certificate", certificate, "-o", out),
    ):
        code, _, err = run(*command, "--memory-limit", "1MiB")
        assert code == 2
        assert "a proof takes about" in err
        assert run(*command, "--memory-limit", "8GiB")[0] == 0
        certificate.unlink()
        out.unlink(missing_ok=True)


def test_solve_writes_its_own_certificate(run: Run, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    code, out, _ = run("solve", tiny, "-m", "exact", "--certificate", path)
    assert code == 0
    assert str(path) in out.replace("\n", "")
    for arithmetic in ("exact", "directed"):
        code, out, _ = run("verify", tiny, path, "--json", "--arithmetic", arithmetic)
        assert code == 0
        document = json.loads(out)
        assert document["accepted"]
        assert document["optimal"]
        assert document["arithmetic"] == arithmetic
        assert document["lower"] == document["upper"]
    code, _, err = run("solve", tiny, "-m", "greedy", "--certificate", path)
    assert code == 2
    assert "--certificate" in err
    assert "'greedy' leaves no proof" in err


def test_what_was_tampered_with_is_rejected_with_its_reason(
    run: Run, tiny: Path, certificate: Path, write_tiny: Callable[..., Path]
) -> None:
    other = write_tiny("other.json", fetch=5)
    code, out, err = run("verify", other, certificate)
    assert code == 1
    assert "rejected" in out
    assert "instance: expected the instance's digest" in err
    code, out, err = run("verify", tiny, changed(certificate, upper=1), "--json")
    assert code == 1
    assert "upper: expected at least" in err
    document = json.loads(out)
    assert not document["accepted"]
    assert document["reasons"][0]["fault"] == "upper"
    assert document["gap"] is None


def test_what_is_no_certificate_is_bad_input(run: Run, tiny: Path, certificate: Path) -> None:
    code, _, err = run("verify", tiny, changed(certificate, lower="7"))
    assert code == 2
    assert "c.json: lower: expected a number, got '7'" in err
    certificate.write_text("{")
    assert run("verify", tiny, certificate)[0] == 2
    assert run("verify", tiny, tiny)[0] == 2
    assert run("verify", tiny, certificate.with_name("absent.json"))[0] == 2
    code, _, err = run("verify", tiny, tiny, "--arithmetic", "float")
    assert code == 2
    assert "--arithmetic: expected 'exact' or 'directed'" in err
    assert run("verify", tiny, tiny, "--tolerance", -1)[0] == 2


def test_from_python(tiny: Path, certificate: Path) -> None:
    problem = read_problem(tiny)
    assert verify(problem, certificate).accepted
    result = solve(problem, method="exact")
    own = certify(problem, result)
    assert verify(problem, own).optimal
    assert certify(problem, result.placement, gap=0).upper == own.upper
    unproven = solve(problem, method="greedy")
    assert unproven.proof is None
    assert verify(problem, certify(problem, unproven)).accepted
