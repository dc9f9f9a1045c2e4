"""How a model goes to a solver's process and what comes back: plain arrays and lines of JSON.

In a temporary folder: ``request.json`` (back end, options), ``model.npz`` (arrays, and the start),
a file an incumbent, ``answer.npz``. On the pipe, one JSON object a line: ``{"incumbent": FILE}``,
``{"bound": B, "nodes": N}``, and last ``{"answer": {...}}`` or ``{"error": MESSAGE}``. Arrays are
plain numbers, never objects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations.linear_model import Axis, Family, LinearModel
from prefixplace_opt.problem.json_files import read_json, write_json

from .backend import Answer

if TYPE_CHECKING:
    from pathlib import Path

Floats = NDArray[np.float64]

ARRAYS = (
    "cost",
    "column_lower",
    "column_upper",
    "integral",
    "row_lower",
    "row_upper",
    "row_start",
    "entry_column",
    "entry_value",
)


@dataclass(frozen=True, eq=False)
class Request:
    """What a solver's process is asked.

    Attributes
    ----------
    backend
        Its name in the registry.
    model, relaxed, start
        As in :meth:`.backend.Backend.solve`.
    options
        gap, node_limit, seed, threads, log: as in `Options`.
    deadline
        Seconds since the epoch when it must have ended, so that the time it takes a process to
        start counts; None for no limit.
    """

    backend: str
    model: LinearModel
    relaxed: bool
    start: Floats | None
    options: dict[str, Any]
    deadline: float | None


def write_request(folder: Path, request: Request) -> None:
    """Write a request into ``folder``."""
    arrays = {name: getattr(request.model, name) for name in ARRAYS}
    if request.start is not None:
        arrays["start"] = request.start
    np.savez(folder / "model.npz", allow_pickle=False, **arrays)
    write_json(
        folder / "request.json",
        {
            "backend": request.backend,
            "name": request.model.name,
            "constant": request.model.constant,
            "interior_point": request.model.interior_point,
            "relaxed": request.relaxed,
            "options": request.options,
            "deadline": request.deadline,
        },
    )


def read_request(folder: Path) -> Request:
    """Read it back; columns are called c[0], c[1], ... and rows r[0], r[1], ..."""
    said = read_json(folder / "request.json")
    with np.load(folder / "model.npz", allow_pickle=False) as arrays:
        stored = dict(arrays)
    start = stored.pop("start", None)
    families = {
        symbol: (Family(symbol, 0, size, (Axis(np.arange(size)),)),)
        for symbol, size in (("c", stored["cost"].size), ("r", stored["row_lower"].size))
    }
    model = LinearModel(
        name=said["name"],
        constant=said["constant"],
        interior_point=said["interior_point"],
        column_families=families["c"],
        row_families=families["r"],
        **stored,
    )
    return Request(
        said["backend"], model, said["relaxed"], start, said["options"], said["deadline"]
    )


def write_answer(folder: Path, answer: Answer) -> dict[str, Any]:
    """Write the arrays of ``answer`` into ``folder``; return the rest for the pipe."""
    arrays = {
        name: array
        for name in ("solution", "row_duals")
        if (array := getattr(answer, name)) is not None
    }
    np.savez(folder / "answer.npz", allow_pickle=False, **arrays)
    return {
        "ending": answer.ending,
        "reason": answer.reason,
        "bound": number(answer.bound),
        "nodes": answer.nodes,
        "seconds": answer.seconds,
        "objective_error": answer.objective_error,
    }


def read_answer(folder: Path, said: dict[str, Any]) -> Answer:
    """Put an answer together again."""
    with np.load(folder / "answer.npz", allow_pickle=False) as arrays:
        stored = dict(arrays)
    return Answer(**{**said, "bound": float(said["bound"])}, **stored)


def number(value: float) -> float | str:
    """Return a number that JSON can hold; ``float`` reads it back."""
    return value if math.isfinite(value) else repr(value)
