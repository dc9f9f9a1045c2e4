"""One instance of a suite: where it comes from, what it is, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from prefixplace_opt.problem import InputError, Problem, number, whole_number
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import members

#: ``easy``: proven optimal within :data:`EASY_SECONDS`. ``hard``: proven. ``open``: not proven.
Difficulty = Literal["easy", "hard", "open"]

EASY_SECONDS = 60.0
#: Relative distance of the bounds at which an optimum counts as proven.
PROVEN = 1e-9


@dataclass(frozen=True)
class BestKnown:
    """What is proven about an instance's optimum.

    Attributes
    ----------
    lower
        Value of the best plan known, ms per epoch.
    upper
        The best bound known, ms per epoch.
    seconds
        Wall time of the run that found the bounds, as its finder reports it.
    certificate
        File that proves both, relative to the suite's folder.
    """

    lower: float
    upper: float
    seconds: float
    certificate: str

    @property
    def gap(self) -> float:
        """``(upper - lower) / upper``, 0 where the bound is met."""
        return 0.0 if self.upper <= self.lower else (self.upper - self.lower) / self.upper

    @property
    def difficulty(self) -> Difficulty:
        """Class of difficulty, see :data:`Difficulty`."""
        if self.gap > PROVEN:
            return "open"
        return "easy" if self.seconds <= EASY_SECONDS else "hard"


@dataclass(frozen=True)
class Entry:
    """One instance.

    Attributes
    ----------
    name
        Unique in the suite.
    family
        The generator family, or ``trace``: cut from traffic by a recipe.
    version
        Of the generator or of the recipe's format.
    seed, parameters
        What the instance is generated from again; for a trace, its recipe.
    digest
        The instance's identity.
    objective, chunks, workers, height, budget, demand_entries
        Sizes: n, M, chunks on the longest path, all budgets together, positive demands.
    file
        The instance file relative to the suite's folder; None where it is not stored.
    best
        What is known; None where nothing is.
    """

    name: str
    family: str
    version: int
    seed: int
    parameters: Mapping[str, Any]
    digest: str
    objective: str
    chunks: int
    workers: int
    height: int
    budget: int
    demand_entries: int
    file: str | None = None
    best: BestKnown | None = None

    @classmethod
    def of(cls, problem: Problem, *, file: str | None = None) -> Entry:
        """Describe an instance that carries its provenance."""
        origin = problem.provenance
        assert origin is not None
        return cls(
            name=problem.name,
            family=origin["generator"],
            version=origin["version"],
            seed=origin["seed"],
            parameters=origin["parameters"],
            digest=problem.digest,
            file=file,
            **sizes(problem),
        )

    def document(self) -> dict[str, Any]:
        """Return the entry JSON-ready; what is None is left out."""
        document = {own.name: getattr(self, own.name) for own in fields(self)}
        document["parameters"] = dict(self.parameters)
        if self.best is not None:
            document["best"] = {own.name: getattr(self.best, own.name) for own in fields(BestKnown)}
            document["best"]["difficulty"] = self.best.difficulty
        return {key: value for key, value in document.items() if value is not None}


def sizes(problem: Problem) -> dict[str, Any]:
    """Return the sizes of an instance that an entry states."""
    return {
        "objective": problem.objective,
        "chunks": problem.n,
        "workers": problem.m,
        "height": problem.tree.height,
        "budget": sum(worker.budget for worker in problem.workers),
        "demand_entries": len(problem.demand),
    }


def difficulty(entry: Entry) -> Difficulty:
    """Return the class of difficulty; an instance without bounds is open."""
    return "open" if entry.best is None else entry.best.difficulty


def entry_from_document(document: Any, field: str) -> Entry:
    """Build an entry; raises InputError."""
    names = [own.name for own in fields(Entry)]
    optional = ("file", "best")
    members(document, field, required=[n for n in names if n not in optional], optional=optional)
    values = dict(document)
    for name in ("name", "family", "digest", "objective", "file"):
        if name in values and not isinstance(values[name], str):
            raise InputError(
                f"expected a string, got {shorten(values[name])}", field=f"{field}.{name}"
            )
    if not isinstance(values["parameters"], dict):
        raise InputError(
            f"expected an object, got {shorten(values['parameters'])}", field=f"{field}.parameters"
        )
    for name in (
        *("version", "seed", "chunks", "workers", "height", "budget"),
        "demand_entries",
    ):
        values[name] = whole_number(values[name], field=f"{field}.{name}", most=2**63)
    if "best" in values:
        values["best"] = _best(values["best"], f"{field}.best")
    return Entry(**values)


def _best(document: Any, field: str) -> BestKnown:
    names = ("lower", "upper", "seconds")
    members(document, field, required=(*names, "certificate", "difficulty"))
    if not isinstance(document["certificate"], str):
        raise InputError(
            f"expected a string, got {shorten(document['certificate'])}",
            field=f"{field}.certificate",
        )
    numbers = {name: number(document[name], field=f"{field}.{name}") for name in names}
    best = BestKnown(**numbers, certificate=document["certificate"])
    if document["difficulty"] != best.difficulty:
        raise InputError(
            f"expected {best.difficulty!r} for these bounds, got {shorten(document['difficulty'])}",
            field=f"{field}.difficulty",
        )
    return best
