import gzip
import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.certificates import (
    Certificate,
    FixedChunks,
    ServicePrices,
    certificate_from_document,
    document_of_certificate,
    read_certificate,
    write_certificate,
)
from prefixplace_opt.problem import Branch, InputError, Leaf
from prefixplace_opt.problem.schema import schema
from tests.certificates.proofs import certificates
from tests.strategies import problems

SCHEMA = schema("certificate")
SMALL = {
    "format": "prefixplace-certificate",
    "version": 1,
    "instance": "ab",
    "objective": "requester",
    "resident": [[0, 2], []],
    "lower": 7.5,
    "upper": 8,
    "granularity": 0.5,
    "prices": [{"requester": [0], "chunk": [1], "value": [2.5]}],
    "tree": [
        {"worker": 0, "chunk": 1, "in": 1, "out": 2},
        {"prices": 0},
        {"prices": 0, "fixed": {"worker": [1], "chunk": [0], "in": [1]}, "child": 3},
        {"prices": 0},
    ],
}


def test_a_certificate_reads_as_what_it_says():
    certificate = certificate_from_document(SMALL)
    assert (certificate.lower, certificate.upper, certificate.granularity) == (7.5, 8.0, 0.5)
    assert [chunks.tolist() for chunks in certificate.resident] == [[0, 2], []]
    first, second, third, fourth = certificate.nodes
    assert first == Branch(0, 1, 1, 2)
    assert second == fourth == Leaf(0)
    assert isinstance(third, FixedChunks)
    assert (third.child, third.inside.tolist()) == (3, [True])
    assert document_of_certificate(certificate) == SMALL
    jsonschema.validate(SMALL, SCHEMA)


@given(problems(chunks=4), st.data())
def test_documents_keep_everything_and_fit_the_schema(problem, data):
    document = document_of_certificate(data.draw(certificates(problem)))
    text = json.dumps(document, allow_nan=False)
    jsonschema.validate(json.loads(text), SCHEMA)
    again = document_of_certificate(certificate_from_document(json.loads(text)))
    assert again == document


@pytest.mark.parametrize("name", ["c.json", "c.json.gz"])
def test_files_are_the_same_every_time_and_large_arrays_are_packed(tmp_path, name):
    rows = 5000
    certificate = Certificate(
        "ab",
        "pairwise",
        [range(rows)],
        1.0,
        2.0,
        [ServicePrices(np.zeros(rows, int), np.arange(rows), np.linspace(0, 1, rows))],
        [
            FixedChunks(0, np.zeros(rows, int), np.arange(rows), np.arange(rows) % 2 == 0, child=1),
            Leaf(0),
        ],
    )
    write_certificate(certificate, tmp_path / name)
    write_certificate(certificate, tmp_path / f"again-{name}")
    raw = (tmp_path / name).read_bytes()
    assert raw == (tmp_path / f"again-{name}").read_bytes()
    document = json.loads(gzip.decompress(raw) if name.endswith("gz") else raw)
    jsonschema.validate(document, SCHEMA)
    assert document["prices"][0]["value"]["dtype"] == "<f8"
    read = read_certificate(tmp_path / name)
    assert np.array_equal(read.prices[0].value, certificate.prices[0].value)
    assert np.array_equal(read.nodes[0].inside, certificate.nodes[0].inside)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "prefixplace-placement", "format: expected 'prefixplace-certificate'"),
        (["version"], 2, "version: expected version 1, got 2"),
        (["instance"], None, "instance: expected a string, got None"),
        (["colour"], "red", "unknown key 'colour'"),
        (["lower"], "7", "lower: expected a number, got '7'"),
        (["lower"], True, "lower: expected a number, got True"),
        (["upper"], 10**400, "upper: expected a number that fits a double"),
        (["granularity"], [1], "granularity: expected a number"),
        (["resident"], {}, "resident: expected a list, got {}"),
        (["resident", 0], "02", r"resident\[0\]: expected an array of numbers"),
        (["resident", 0], [0.5], r"resident\[0\]\[0\]: expected a whole number, got 0.5"),
        (["prices", 0, "value"], [1, 2], r"prices\[0\]: expected requester, chunk and value"),
        (["prices", 0, "value"], [None], r"prices\[0\].value\[0\]: expected a number, got null"),
        (["prices", 0, "value"], [10**400], r"prices\[0\].value: expected a list of numbers"),
        (["prices", 0, "value"], [[1]], r"prices\[0\].value: expected a list of numbers"),
        (["prices", 0, "row"], [1], r"prices\[0\]: unknown key 'row'"),
        (["tree", 0], [], r"tree\[0\]: expected an object, got \[\]"),
        (["tree", 1], {}, r"tree\[1\]: missing key 'prices'"),
        (["tree", 1, "prices"], -1, r"tree\[1\].prices: expected a whole number"),
        (["tree", 1, "prices"], 0.5, r"tree\[1\].prices: expected a whole number"),
        (["tree", 1, "bound"], 5, r"tree\[1\]: unknown key 'bound'"),
        (["tree", 0, "in"], None, r"tree\[0\].in: expected a whole number"),
        (["tree", 2, "fixed", "in"], [2], r"tree\[2\].fixed.in: expected 0 \(out\) or 1 \(in\)"),
        (["tree", 2, "fixed", "in"], [1, 1], r"tree\[2\].fixed: expected worker, chunk and in"),
        (["tree", 2, "fixed", "chunk"], [[0]], r"tree\[2\].fixed.chunk: expected a list"),
    ],
)
def test_what_is_not_of_the_format_is_named(tmp_path, path, value, message):
    document = json.loads(json.dumps(SMALL))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file = tmp_path / "c.json"
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match=message) as error:
        read_certificate(file)
    assert error.value.source == str(file)


@pytest.mark.parametrize("key", [key for key in SMALL if key != "granularity"])
def test_every_key_is_needed(key):
    with pytest.raises(InputError):
        certificate_from_document({name: SMALL[name] for name in SMALL if name != key})
