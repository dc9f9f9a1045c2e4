"""Links between pairs of workers, from the ``[links]`` table of a workers file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import InputError, cost_array, number
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import members

Floats = NDArray[np.float64]

#: Pairs of workers above which a table of all of them is refused.
MOST_PAIRS = 10**7


class Linked(Protocol):
    """What the topology needs to know of a worker."""

    @property
    def name(self) -> str:
        """Unique name."""
        ...

    @property
    def field(self) -> str:
        """Where the file declares it."""
        ...

    @property
    def rack(self) -> str | None:
        """Its rack, if it names one."""
        ...


@dataclass(frozen=True, eq=False)
class Links:
    """Goodput in Gb/s (0: no link) and latency in ms, both (M, M), indexed [requester][holder]."""

    goodput_gbps: Floats
    latency_ms: Floats


def links_from_document(value: Any, workers: Sequence[Linked]) -> Links:
    """Build the links; raises InputError.

    Either ``goodput_gbps`` and ``latency_ms`` (each one number, or an M x M list), or the topology
    ``same_rack`` and ``between_racks`` (absent: no link); then every ``pair`` in turn.
    """
    names = ("goodput_gbps", "latency_ms", "same_rack", "between_racks", "pair")
    members(value, "links", optional=names)
    m = len(workers)
    if m * m > MOST_PAIRS:
        raise InputError(
            f"expected at most {MOST_PAIRS} pairs of workers, got {m} x {m}", field="links"
        )
    racks = "same_rack" in value or "between_racks" in value
    if racks and ("goodput_gbps" in value or "latency_ms" in value):
        raise InputError(
            "expected either goodput_gbps and latency_ms or same_rack and between_racks",
            field="links",
        )
    if racks:
        goodput, latency = _by_rack(value, workers)
    elif "goodput_gbps" in value:
        goodput = _table(value["goodput_gbps"], m, "links.goodput_gbps")
        latency = _table(value.get("latency_ms", 0.0), m, "links.latency_ms")
    elif "pair" in value and "latency_ms" not in value:
        goodput, latency = np.zeros((m, m)), np.zeros((m, m))
    else:
        raise InputError("missing key 'goodput_gbps', 'same_rack' or 'pair'", field="links")
    _apply_pairs(value.get("pair", []), workers, goodput, latency)
    return Links(goodput, latency)


def _table(value: Any, m: int, field: str) -> Floats:
    if isinstance(value, list):
        return cost_array(value, field=field, shape=(m, m)).copy()
    return np.full((m, m), number(value, field=field))


def _by_rack(value: Any, workers: Sequence[Linked]) -> tuple[Floats, Floats]:
    for worker in workers:
        if worker.rack is None:
            raise InputError("missing key 'rack', which [links] go by", field=worker.field)
    same = _link(value.get("same_rack"), "links.same_rack")
    between = _link(value.get("between_racks"), "links.between_racks")
    number_of: dict[str | None, int] = {}
    rack = np.array([number_of.setdefault(worker.rack, len(number_of)) for worker in workers])
    within = rack[:, None] == rack[None, :]
    return np.where(within, same[0], between[0]), np.where(within, same[1], between[1])


def _link(value: Any, field: str) -> tuple[float, float]:
    if value is None:
        return 0.0, 0.0
    members(value, field, required=("goodput_gbps",), optional=("latency_ms",))
    goodput = number(value["goodput_gbps"], field=f"{field}.goodput_gbps")
    return goodput, number(value.get("latency_ms", 0.0), field=f"{field}.latency_ms")


def _apply_pairs(pairs: Any, workers: Sequence[Linked], goodput: Floats, latency: Floats) -> None:
    if not isinstance(pairs, list):
        raise InputError(
            f"expected [[links.pair]] tables, got {shorten(pairs)}", field="links.pair"
        )
    number_of = {worker.name: m for m, worker in enumerate(workers)}
    for at, pair in enumerate(pairs):
        field = f"links.pair[{at}]"
        members(
            pair, field, required=("requester", "holder", "goodput_gbps"), optional=("latency_ms",)
        )
        ends = []
        for end in ("requester", "holder"):
            name = pair[end]
            if not isinstance(name, str) or name not in number_of:
                raise InputError(
                    f"expected the name of a worker, got {shorten(name)}", field=f"{field}.{end}"
                )
            ends.append(number_of[name])
        link = {key: pair[key] for key in ("goodput_gbps", "latency_ms") if key in pair}
        goodput[ends[0], ends[1]], latency[ends[0], ends[1]] = _link(link, field)
