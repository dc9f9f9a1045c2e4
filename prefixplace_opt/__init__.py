"""Plan which prefix chunks each LLM worker keeps, and prove how good the plan is.

The names below are loaded on first use, so that importing the package stays light.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Public name -> module that defines it. No such module may bear the name of one of its exports:
#: importing the module would put it where the function should be.
_EXPORTS: dict[str, str] = {}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
