"""The back ends by name; their libraries are imported when one is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prefixplace_opt.problem import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .backend import Backend

#: ``module:class`` below this package, and its arguments.
BACKENDS: dict[str, tuple[str, ...]] = {
    "highs": ("highs:Highs",),
    "highs-simplex": ("highs:Highs", "simplex"),
    "highs-ipx": ("highs:Highs", "ipx"),
    "cp-sat": ("cp_sat:CpSat",),
    "pdlp": ("math_opt:Pdlp",),
    "scip": ("scip:Scip",),
}
#: What stands before the name of any solver that Pyomo knows.
PYOMO = "pyomo:"


def backend_named(name: str) -> Backend:
    """Return a back end, by a name of :data:`BACKENDS` or ``pyomo:NAME``.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name.startswith(PYOMO) and len(name) > len(PYOMO):
        entry, *arguments = "pyomo_solver:PyomoSolver", name.removeprefix(PYOMO)
    elif name in BACKENDS:
        entry, *arguments = BACKENDS[name]
    else:
        raise InputError(f"expected one of {', '.join(BACKENDS)} or pyomo:NAME, got {name!r}")
    module, of = entry.split(":")
    make: Callable[..., Backend] = getattr(import_module(f"{__package__}.{module}"), of)
    return make(*arguments)
