"""The certificate file: ``"format": "prefixplace-certificate", "version": 1``."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from prefixplace_opt.problem import Branch, InputError, Leaf, whole_number
from prefixplace_opt.problem.errors import expect, shorten
from prefixplace_opt.problem.json_arrays import numeric, packed
from prefixplace_opt.problem.json_files import check_format, members, read_json, write_json

from .certificate import Certificate, FixedChunks, Node, ServicePrices, Withheld

FORMAT = "prefixplace-certificate"


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate file (``.json`` or ``.json.gz``), without judging what it claims.

    Raises
    ------
    InputError
        Names file, field and value for everything that is not of the format.
    """
    document = read_json(path)
    try:
        return certificate_from_document(document)
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate file, gzipped where the name ends in ``.gz``; all or nothing."""
    expect(certificate, Certificate, field="certificate")
    write_json(path, document_of_certificate(certificate))


def certificate_from_document(document: Any) -> Certificate:
    """Build the certificate that a parsed file describes; raises InputError."""
    check_format(document, FORMAT)
    members(
        document,
        "",
        required=(
            "format",
            "version",
            "instance",
            "objective",
            "resident",
            "lower",
            "upper",
            "prices",
            "tree",
        ),
        optional=("granularity",),
    )
    for name in ("instance", "objective"):
        if not isinstance(document[name], str):
            raise InputError(f"expected a string, got {shorten(document[name])}", field=name)
    for name in ("resident", "prices", "tree"):
        if not isinstance(document[name], list):
            raise InputError(f"expected a list, got {shorten(document[name])}", field=name)
    return Certificate(
        instance=document["instance"],
        objective=document["objective"],
        resident=[
            numeric(chunks, f"resident[{m}]") for m, chunks in enumerate(document["resident"])
        ],
        lower=document["lower"],
        upper=document["upper"],
        granularity=document.get("granularity"),
        prices=[_prices(item, f"prices[{at}]") for at, item in enumerate(document["prices"])],
        nodes=[_node(item, f"tree[{at}]") for at, item in enumerate(document["tree"])],
    )


def document_of_certificate(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate file's content as JSON-ready objects."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "instance": certificate.instance,
        "objective": certificate.objective,
        "resident": [packed(chunks) for chunks in certificate.resident],
        "lower": certificate.lower,
        "upper": certificate.upper,
    }
    if certificate.granularity is not None:
        document["granularity"] = certificate.granularity
    document["prices"] = [_document_of_prices(prices) for prices in certificate.prices]
    document["tree"] = [_document_of_node(node) for node in certificate.nodes]
    return document


def _prices(item: Any, field: str) -> ServicePrices:
    names = ("requester", "chunk", "value")
    members(item, field, required=names, optional=("withheld",))
    withheld = _withheld(item["withheld"], f"{field}.withheld") if "withheld" in item else None
    try:
        requester, chunk, value = (numeric(item[name], name) for name in names)
        return ServicePrices(requester, chunk, value, withheld)
    except InputError as error:
        raise error.at(field=field) from None


def _withheld(item: Any, field: str) -> Withheld:
    names = ("worker", "chunk", "value")
    members(item, field, required=names)
    try:
        return Withheld(*(numeric(item[name], name) for name in names))
    except InputError as error:
        raise error.at(field=field) from None


def _document_of_prices(prices: ServicePrices) -> dict[str, Any]:
    document: dict[str, Any] = {
        name: packed(getattr(prices, name)) for name in ("requester", "chunk", "value")
    }
    if prices.withheld.value.size:
        document["withheld"] = {
            name: packed(getattr(prices.withheld, name)) for name in ("worker", "chunk", "value")
        }
    return document


def _node(item: Any, field: str) -> Node:
    if not isinstance(item, dict):
        raise InputError(f"expected an object, got {shorten(item)}", field=field)
    if "worker" in item:
        names = ("worker", "chunk", "in", "out")
        members(item, field, required=names)
        worker, chunk, inside, outside = (_index(item[name], f"{field}.{name}") for name in names)
        return Branch(worker=worker, chunk=chunk, inside=inside, outside=outside)
    if "fixed" not in item:
        members(item, field, required=("prices",))
        return Leaf(_index(item["prices"], f"{field}.prices"))
    members(item, field, required=("prices", "fixed", "child"))
    fixed = members(item["fixed"], f"{field}.fixed", required=("worker", "chunk", "in"))
    lists = {name: np.asarray(numeric(fixed[name], f"{field}.fixed.{name}")) for name in fixed}
    if not np.isin(lists["in"], (0, 1)).all():
        raise InputError("expected 0 (out) or 1 (in) only", field=f"{field}.fixed.in")
    try:
        return FixedChunks(
            prices=_index(item["prices"], f"{field}.prices"),
            worker=lists["worker"],
            chunk=lists["chunk"],
            inside=lists["in"] == 1,
            child=_index(item["child"], f"{field}.child"),
        )
    except InputError as error:
        raise error.at(field=f"{field}.fixed") from None


def _index(value: Any, field: str) -> int:
    return whole_number(value, field=field)


def _document_of_node(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"prices": node.prices}
    if isinstance(node, Branch):
        return {
            "worker": node.worker,
            "chunk": node.chunk,
            "in": node.inside,
            "out": node.outside,
        }
    fixed = {
        "worker": packed(node.worker),
        "chunk": packed(node.chunk),
        "in": packed(node.inside.astype(np.int32)),
    }
    return {"prices": node.prices, "fixed": fixed, "child": node.child}
