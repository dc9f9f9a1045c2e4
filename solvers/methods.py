"""The methods by name: what each does, and where it is found when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from .result import Result
    from .run import Run


@dataclass(frozen=True)
class Method:
    """One way to solve a problem.

    Attributes
    ----------
    name
        What ``--method`` takes.
    summary
        One line for people.
    entry
        ``module:function`` below this room, called as ``function(problem, run, *arguments)``.
    arguments
        Further arguments of ``entry``.
    proves
        Whether the method's bound can close the gap.
    """

    name: str
    summary: str
    entry: str
    arguments: tuple[str, ...] = ()
    proves: bool = False

    def __call__(self, problem: Problem, run: Run) -> Result:
        """Run the method; its module is imported now."""
        module, function = self.entry.split(":")
        solve: Callable[..., Result] = getattr(import_module(f"{__package__}.{module}"), function)
        return solve(problem, run, *self.arguments)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "auto",
            "plan, Lagrangian bound, branch and price: a plan with a proof of the asked gap",
            "proving:prove",
            ("auto",),
            proves=True,
        ),
        Method(
            "exact",
            "auto until the plan is proven optimal",
            "proving:prove",
            ("exact",),
            proves=True,
        ),
        Method(
            "compact-lp",
            "LP bound of the compact formulation, its solution rounded and refined",
            "lp_bound:lp_bound",
            ("compact",),
        ),
        Method(
            "flow-lp",
            "LP bound of the tree-DP flow formulation, equal to the configuration LP's",
            "lp_bound:lp_bound",
            ("flow",),
        ),
        Method(
            "plan", "WorkerGreedy from several orders, refined; the paper's planner", "planner:plan"
        ),
        Method(
            "greedy", "WorkerGreedy once: at least half the optimum", "planner:single", ("greedy",)
        ),
        Method("independent", "each worker for itself", "planner:single", ("independent",)),
        Method(
            "popularity",
            "each worker holds what all workers need most",
            "planner:single",
            ("popularity",),
        ),
        Method(
            "local-dedup",
            "each worker for itself, no chunk twice",
            "planner:single",
            ("local-dedup",),
        ),
    )
}


def method_named(name: str) -> Method:
    """Return the method; raises InputError that lists the names there are."""
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise InputError(
            f"expected one of {', '.join(METHODS)}, got {name!r}", field="method"
        ) from None
