"""Plan which prefix chunks each LLM worker keeps, and prove how good the plan is.

The public names are loaded on first use, so that importing the package stays light.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# A public name stands in three places, held equal by tests/test_house.py: here with the module that
# defines it, in `__all__`, and in an `if TYPE_CHECKING:` import for type checkers. The defining
# module must not bear the name of an export (`planning.plan`, not `plan.plan`): importing such a
# module would put it where the function should be.
_EXPORTS: dict[str, str] = {}

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
