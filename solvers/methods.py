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
    proof
        Whether its result carries a proof that a certificate is made from.
    """

    name: str
    summary: str
    entry: str
    arguments: tuple[str, ...] = ()
    proves: bool = False
    proof: bool = False

    @property
    def bounds(self) -> bool:
        """Whether its bound is more than each worker's best with everything to itself."""
        return self.proves or self.proof

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
            proof=True,
        ),
        Method(
            "exact",
            "auto until the plan is proven optimal",
            "proving:prove",
            ("exact",),
            proves=True,
            proof=True,
        ),
        Method(
            "compact",
            "the compact MILP by HiGHS, from the planner's plan",
            "milp:milp",
            ("compact", "highs"),
            proves=True,
        ),
        Method(
            "flow",
            "the tree-DP flow MILP by HiGHS: the strongest bound, the largest model",
            "milp:milp",
            ("flow", "highs"),
            proves=True,
        ),
        Method(
            "cp-sat",
            "the compact MILP by CP-SAT of OR-Tools",
            "milp:milp",
            ("compact", "cp-sat"),
            proves=True,
        ),
        Method(
            "scip",
            "the compact MILP by SCIP (extra scip)",
            "milp:milp",
            ("compact", "scip"),
            proves=True,
        ),
        Method(
            "compact-lp",
            "LP bound of the compact formulation, its solution rounded and refined",
            "lp_bound:lp_bound",
            ("compact-lp", "compact", "highs"),
            proof=True,
        ),
        Method(
            "flow-lp",
            "LP bound of the tree-DP flow formulation, equal to the configuration LP's",
            "lp_bound:lp_bound",
            ("flow-lp", "flow", "highs"),
            proof=True,
        ),
        Method(
            "config-lp",
            "the configuration LP by stabilised column generation, and a plan from its columns",
            "column_generation:configuration_lp",
            proof=True,
        ),
        Method(
            "pdlp",
            "the bound of flow-lp by PDLP of OR-Tools, for LPs too large for others",
            "lp_bound:lp_bound",
            ("pdlp", "flow", "pdlp"),
            proof=True,
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


#: Before the name of any solver that Pyomo reaches.
PYOMO = "pyomo:"


def method_named(name: str) -> Method:
    """Return the method, also ``pyomo:NAME``; raises InputError that lists the names there are."""
    solver = str(name).removeprefix(PYOMO)
    if solver and solver != str(name):
        return Method(
            name,
            f"the compact MILP by Pyomo's solver {solver}",
            "milp:milp",
            ("compact", name),
            proves=True,
        )
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise InputError(
            f"expected one of {', '.join(METHODS)} or pyomo:SOLVER, got {name!r}", field="method"
        ) from None
