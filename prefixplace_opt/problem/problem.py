"""A placement problem: tree, workers, demand and costs; immutable and validated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .arrays import is_name, whole_number
from .costs import CostTable, LinkCost, PairwiseCost, PairwiseCostTable
from .demand import Demand
from .errors import InputError, expect, shorten
from .tree import PrefixTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: Least positive demand times recompute cost, ms per epoch: 2**-900, about 1e-271. What a worker
#: saves by fetching may be 2**53 times smaller, and rounding errors as much again; all are doubles.
LEAST_PRODUCT = 2.0**-900

Objective = Literal["requester", "pairwise"]
Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True)
class Worker:
    """One worker of the cluster.

    Parameters
    ----------
    name
        Unique in a problem.
    budget
        Most chunks it may hold, >= 0.
    hardware
        Free text, for people.
    compatibility
        Workers whose strings differ never fetch from each other (other model, other KV layout).
    """

    name: str
    budget: int
    hardware: str | None = None
    compatibility: str | None = None

    def __post_init__(self) -> None:
        if not is_name(self.name) or not self.name:
            raise InputError(
                f"expected a non-empty, printable string, got {shorten(self.name)}", field="name"
            )
        object.__setattr__(self, "budget", whole_number(self.budget, field="budget"))
        for name in ("hardware", "compatibility"):
            value = getattr(self, name)
            if value is not None and not is_name(value):
                raise InputError(f"expected a printable string, got {shorten(value)}", field=name)


@dataclass(frozen=True, eq=False)
class Problem:
    """Which chunks each worker should keep resident.

    Parameters
    ----------
    tree
        The prefix tree, n chunks.
    workers
        M workers, at least one, with unique names.
    demand
        Shape (M, n), requests per epoch.
    recompute
        w_m(b) in ms, finite.
    fetch
        f_m(b) in ms, or for the pairwise objective f_{m<-h}(b); a table that does not depend on
        the holder serves the pairwise objective as f_{m<-h} = f_m.
    objective
        ``"requester"`` or ``"pairwise"``.
    name
        For people; no part of the identity.
    provenance
        Where the instance comes from (generator, parameters, seed); no part of the identity.

    Raises
    ------
    InputError
        Where parts do not fit together; the error names the field.
    """

    tree: PrefixTree
    workers: tuple[Worker, ...]
    demand: Demand
    recompute: CostTable
    fetch: CostTable | PairwiseCostTable
    objective: Objective = "requester"
    name: str = ""
    provenance: Mapping[str, Any] | None = field(default=None)

    def __init__(
        self,
        tree: PrefixTree,
        workers: Sequence[Worker],
        demand: Demand,
        recompute: CostTable,
        fetch: CostTable | PairwiseCostTable,
        objective: Objective = "requester",
        name: str = "",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        if objective not in get_args(Objective):
            raise InputError(
                f"expected 'requester' or 'pairwise', got {shorten(objective)}", field="objective"
            )
        expect(tree, PrefixTree, field="tree")
        expect(demand, Demand, field="demand")
        expect(recompute, CostTable, PairwiseCost, field="recompute")
        expect(fetch, CostTable, PairwiseCostTable, field="fetch")
        for m, worker in enumerate(workers):
            expect(worker, Worker, field=f"workers[{m}]")
        if not is_name(name):
            raise InputError(f"expected a printable string, got {shorten(name)}", field="name")
        if not workers:
            raise InputError("expected at least one worker", field="workers")
        seen: dict[str, int] = {}
        for m, worker in enumerate(workers):
            if worker.name in seen:
                raise InputError(
                    f"expected unique names, got {shorten(worker.name)} "
                    f"at {seen[worker.name]} and {m}",
                    field=f"workers[{m}].name",
                )
            seen[worker.name] = m
        if demand.shape != (len(workers), tree.n):
            raise InputError(
                f"expected shape {(len(workers), tree.n)}, got {demand.shape}", field="demand"
            )
        values = (tree, tuple(workers), demand, recompute, fetch, objective, name, provenance)
        for own, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, own.name, value)
        self._check_costs()

    def _check_costs(self) -> None:
        if isinstance(self.recompute, PairwiseCost):
            raise InputError("a recompute cost has no holder to depend on", field="recompute")
        by_holder = isinstance(self.fetch, PairwiseCost) or (
            isinstance(self.fetch, LinkCost) and self.fetch.depends_on_holder
        )
        if by_holder and self.objective == "requester":
            raise InputError(
                "fetch costs that depend on the holder need the pairwise objective; the "
                "requester-side one needs an instance made with costs a requester",
                field="objective",
            )
        for label, table in (("recompute", self.recompute), ("fetch", self.fetch)):
            try:
                table.check(self.tree, self.m)
            except InputError as error:
                raise error.at(field=label) from None
        recompute = self.recompute_costs
        finite = np.isfinite(recompute)
        if not finite.all():
            at = int(np.argmin(finite))
            raise InputError(
                f"expected a finite cost, got {recompute[at]} for chunk {self.demand.chunk[at]} "
                f"at worker {self.demand.worker[at]}",
                field="recompute",
            )
        with np.errstate(over="ignore", under="ignore"):
            product = self.demand.value * recompute
            total = float(product.sum())
        # A factor of 2**64 leaves room for every sum and scaling that solvers and verifier form.
        if not total < np.finfo(np.float64).max / 2**64:
            raise InputError(
                "demand times recompute cost adds up to more than a double holds", field="demand"
            )
        small = (product < LEAST_PRODUCT) & (self.demand.value > 0) & (recompute > 0)
        if small.any():
            at = int(np.argmax(small))
            raise InputError(
                "demand times recompute cost is too small to be told apart in doubles: expected 0 "
                f"or at least 2**-900 (about 1e-271), got {self.demand.value[at]} times "
                f"{recompute[at]} for chunk {self.demand.chunk[at]} at worker "
                f"{self.demand.worker[at]}",
                field="demand",
            )

    @property
    def n(self) -> int:
        """Number of chunks."""
        return self.tree.n

    @property
    def m(self) -> int:
        """Number of workers."""
        return len(self.workers)

    @cached_property
    def budgets(self) -> NDArray[np.int64]:
        """Shape (M,): most chunks a worker may hold, cut to n."""
        return np.array([min(worker.budget, self.n) for worker in self.workers], dtype=np.int64)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Shape (M,): number of each worker's compatibility group, in order of first appearance."""
        number: dict[str | None, int] = {}
        return np.array([number.setdefault(w.compatibility, len(number)) for w in self.workers])

    @property
    def recompute_costs(self) -> Floats:
        """W in ms at every demand entry, shape (entries,)."""
        # What overflows is no finite cost, and is refused as such.
        with np.errstate(over="ignore"):
            return self.recompute.cost(self.tree, self.demand.worker, self.demand.chunk)

    def fetch_costs(self, holder: int) -> Floats:
        """f_{m<-holder} in ms at every demand entry, shape (entries,).

        +inf where the requester cannot fetch: no link, another compatibility group. At the
        holder's own entries the value means nothing.
        """
        demand = self.demand
        if self.objective == "pairwise" and isinstance(self.fetch, PairwiseCostTable):
            cost = self.fetch.cost_from(self.tree, demand.worker, holder, demand.chunk)
        else:
            assert isinstance(self.fetch, CostTable)
            cost = self.fetch.cost(self.tree, demand.worker, demand.chunk)
        if self.groups.max() > 0:
            cost = np.where(self.groups[demand.worker] == self.groups[holder], cost, np.inf)
        return cost

    def with_objective(self, objective: Objective) -> Problem:
        """Return the same problem under another objective.

        A requester-side problem becomes pairwise with f_{m<-h} = f_m; fetch costs that depend on
        the holder cannot be read requester-side (InputError).
        """
        return self if objective == self.objective else replace(self, objective=objective)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical content, 64 hexadecimal digits.

        Covers objective, tree (with keys), workers' names, budgets and compatibility, merged
        demand entries and cost tables as declared; not the name, hardware text or provenance.
        """
        hasher = hashlib.sha256()

        def put(tag: str, value: object) -> None:
            if isinstance(value, np.ndarray):
                kind = "<f8" if value.dtype.kind == "f" else "<i8"
                content = np.ascontiguousarray(value, dtype=kind).tobytes()
                head = f"{tag}:{kind}:{value.shape}"
            else:
                content = repr(value).encode("utf-8", "surrogatepass")
                head = f"{tag}:{type(value).__name__}"
            hasher.update(f"{head}:{len(content)}\n".encode())
            hasher.update(content)

        put("format", "prefixplace-instance 1")
        put("objective", self.objective)
        put("parents", self.tree.parents)
        put("chunk_tokens", self.tree.chunk_tokens)
        put("chunk_bytes", self.tree.chunk_bytes)
        for key in self.tree.keys or ():
            put("key", key)
        for worker in self.workers:
            put("worker", worker.name)
            put("budget", worker.budget)
            put("compatibility", worker.compatibility)
        put("demand.worker", self.demand.worker)
        put("demand.chunk", self.demand.chunk)
        put("demand.value", self.demand.value)
        for label, table in (("recompute", self.recompute), ("fetch", self.fetch)):
            put(label, type(table).__name__)
            for own in fields(table):  # type: ignore[arg-type]
                put(f"{label}.{own.name}", getattr(table, own.name))
        return hasher.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Problem({self.name!r}, {self.objective}, n={self.n}, workers={self.m}, "
            f"budgets={sum(w.budget for w in self.workers)}, demand entries={len(self.demand)})"
        )
