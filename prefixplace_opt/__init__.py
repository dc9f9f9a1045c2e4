"""Plan which prefix chunks each LLM worker keeps, and prove how good the plan is.

The public names are loaded on first use, so that importing the package stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .certificates import read_certificate, write_certificate
    from .certifying import certify, verify
    from .instances.clusters import read_cluster
    from .instances.generators import generate
    from .instances.trace_import import ImportOptions, import_traces
    from .problem import (
        CapacityError,
        InputError,
        Placement,
        PrefixPlaceError,
        PrefixTree,
        Problem,
        SolverError,
        Worker,
        read_placement,
        read_problem,
        write_placement,
        write_problem,
    )
    from .replanning import Replan, replan
    from .solvers.methods import METHODS
    from .solvers.result import Result
    from .solving import solve

__version__ = "0.1.0"

# A public name stands in three places, held equal by tests/test_house.py: here with the module that
# defines it, in `__all__`, and in an `if TYPE_CHECKING:` import for type checkers. The defining
# module must not bear the name of an export (`planning.plan`, not `plan.plan`): importing such a
# module would put it where the function should be.
_EXPORTS: dict[str, str] = {
    "CapacityError": "prefixplace_opt.problem",
    "ImportOptions": "prefixplace_opt.instances.trace_import",
    "InputError": "prefixplace_opt.problem",
    "METHODS": "prefixplace_opt.solvers.methods",
    "Placement": "prefixplace_opt.problem",
    "PrefixPlaceError": "prefixplace_opt.problem",
    "PrefixTree": "prefixplace_opt.problem",
    "Problem": "prefixplace_opt.problem",
    "Replan": "prefixplace_opt.replanning",
    "Result": "prefixplace_opt.solvers.result",
    "SolverError": "prefixplace_opt.problem",
    "Worker": "prefixplace_opt.problem",
    "certify": "prefixplace_opt.certifying",
    "generate": "prefixplace_opt.instances.generators",
    "import_traces": "prefixplace_opt.instances.trace_import",
    "read_certificate": "prefixplace_opt.certificates",
    "read_cluster": "prefixplace_opt.instances.clusters",
    "read_placement": "prefixplace_opt.problem",
    "read_problem": "prefixplace_opt.problem",
    "replan": "prefixplace_opt.replanning",
    "solve": "prefixplace_opt.solving",
    "verify": "prefixplace_opt.certifying",
    "write_certificate": "prefixplace_opt.certificates",
    "write_placement": "prefixplace_opt.problem",
    "write_problem": "prefixplace_opt.problem",
}

__all__ = [
    "METHODS",
    "CapacityError",
    "ImportOptions",
    "InputError",
    "Placement",
    "PrefixPlaceError",
    "PrefixTree",
    "Problem",
    "Replan",
    "Result",
    "SolverError",
    "Worker",
    "__version__",
    "certify",
    "generate",
    "import_traces",
    "read_certificate",
    "read_cluster",
    "read_placement",
    "read_problem",
    "replan",
    "solve",
    "verify",
    "write_certificate",
    "write_placement",
    "write_problem",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
