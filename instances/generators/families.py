"""The generator families by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from prefixplace_opt.problem import InputError, Problem, whole_number
from prefixplace_opt.problem.errors import shorten

from .adversarial import AdversarialParameters, adversarial
from .agent import AgentParameters, agent
from .chat import ChatParameters, chat
from .degenerate import DegenerateParameters, degenerate
from .documents import DocumentsParameters, documents
from .fewshot import FewshotParameters, fewshot
from .multi_tenant import MultiTenantParameters, multi_tenant
from .parameters import Parameters
from .rag import RagParameters, rag
from .random_trees import RandomParameters, random_tree
from .shapes import (
    BroomParameters,
    CaterpillarParameters,
    ChainParameters,
    StarParameters,
    broom,
    caterpillar,
    chain,
    star,
)


@dataclass(frozen=True)
class Family:
    """One documented distribution of instances.

    Attributes
    ----------
    name
        What ``prefixplace generate`` takes.
    summary
        One line for people.
    version
        Raised whenever the same parameters and seed would give another instance.
    parameters
        The class that declares and checks the family's parameters.
    build
        ``build(parameters, seed)`` gives the instance, without name and provenance.
    """

    name: str
    summary: str
    version: int
    parameters: type[Parameters]
    build: Callable[[Any, int], Problem]

    def generate(self, seed: int, parameters: Parameters, name: str = "") -> Problem:
        """Generate an instance; its name defaults to family, sizes, objective and seed."""
        seed = whole_number(seed, field="seed")
        problem = self.build(parameters, seed)
        default = f"{self.name}-n{problem.n}-m{problem.m}-{problem.objective}-s{seed}"
        provenance = {
            "generator": self.name,
            "version": self.version,
            "parameters": parameters.as_dict(),
            "seed": seed,
        }
        return replace(problem, name=name or default, provenance=provenance)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("rag", "retrieved documents below a shared system prompt", 1, RagParameters, rag),
        Family("chat", "conversations that grow turn by turn", 1, ChatParameters, chat),
        Family("agent", "tool loops with long contexts", 1, AgentParameters, agent),
        Family("fewshot", "short queries behind example lists", 1, FewshotParameters, fewshot),
        Family("documents", "questions on long documents", 1, DocumentsParameters, documents),
        Family("multi-tenant", "tenants of unlike size", 1, MultiTenantParameters, multi_tenant),
        Family("random", "random trees of several laws", 1, RandomParameters, random_tree),
        Family("chain", "chains", 1, ChainParameters, chain),
        Family("star", "leaves with or without a center", 1, StarParameters, star),
        Family("broom", "a chain that ends in many", 1, BroomParameters, broom),
        Family("caterpillar", "a chain with legs", 1, CaterpillarParameters, caterpillar),
        Family(
            "adversarial",
            "drives greedy and the planner toward half",
            1,
            AdversarialParameters,
            adversarial,
        ),
        Family("degenerate", "ties, zeros and edges", 1, DegenerateParameters, degenerate),
    )
}


def family_named(name: str) -> Family:
    """Return the family; raises InputError that lists the names there are."""
    try:
        return FAMILIES[name]
    except (KeyError, TypeError):
        raise InputError(
            f"expected one of {', '.join(FAMILIES)}, got {shorten(name)}", field="family"
        ) from None


def generate(family: str, *, seed: int = 0, **parameters: Any) -> Problem:
    """Generate an instance.

    Parameters
    ----------
    family
        A name from :data:`FAMILIES`.
    seed
        Whole number >= 0; the same family, parameters and seed give the same digest on every
        machine, Python and NumPy.
    parameters
        The family's own; see ``docs/instances.md`` or ``prefixplace generate FAMILY --help``.

    Returns
    -------
    Problem
        ``provenance`` says generator, version, parameters and seed.

    Raises
    ------
    InputError
        For an unknown family or parameter, or a value out of range.

    Examples
    --------
    >>> generate("rag", documents=5, seed=1).m
    4
    """
    chosen = family_named(family)
    return chosen.generate(seed, chosen.parameters.of(parameters))
