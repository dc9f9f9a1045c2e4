"""The back ends by name; their libraries are imported when one is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .backend import Backend

#: ``module:class`` below this package.
BACKENDS: dict[str, str] = {
    "highs": "highs:Highs",
    "cp-sat": "cp_sat:CpSat",
    "pdlp": "math_opt:Pdlp",
    "scip": "scip:Scip",
}
#: What stands before the name of any solver that Pyomo knows.
PYOMO = "pyomo:"


def backend_named(name: str) -> Backend:
    """Return a back end, by a name of :data:`BACKENDS` or ``pyomo:NAME``.

    Raises
    ------
    InputError
        For an unknown name.
    SolverError
        Where Pyomo does not know its NAME. A missing solver is reported when it is to solve.
    """
    if name.startswith(PYOMO) and len(name) > len(PYOMO):
        make: Callable[..., Backend] = _found("pyomo_solver:PyomoSolver")
        return make(name.removeprefix(PYOMO))
    if name not in BACKENDS:
        raise InputError(f"expected one of {', '.join(BACKENDS)} or pyomo:NAME, got {name!r}")
    return _found(BACKENDS[name])()


def _found(entry: str) -> Callable[..., Backend]:
    module, name = entry.split(":")
    found: Callable[..., Backend] = getattr(import_module(f"{__package__}.{module}"), name)
    return found
