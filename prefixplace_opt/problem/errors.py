"""The exceptions of the product: each names where the fault is, what was found and expected."""

from __future__ import annotations


class PrefixPlaceError(Exception):
    """Base of every error that the product raises on purpose."""


class InputError(PrefixPlaceError, ValueError):
    """Input that does not describe what it should.

    Parameters
    ----------
    message
        What was expected and what was found, as one sentence.
    field
        Where in the input, as a dotted path (``"workers[3].budget"``).
    source
        The file, when the input came from one.
    """

    def __init__(self, message: str, *, field: str = "", source: str = "") -> None:
        self.message = message
        self.field = field
        self.source = source
        super().__init__(": ".join(part for part in (source, field, message) if part))

    def at(self, *, field: str = "", source: str = "") -> InputError:
        """Return the same error with an outer field path or a file name filled in.

        ``field`` is put in front of the path so far; ``source`` only fills an empty one.
        """
        inner = self.field
        if field and inner:
            path = field + (inner if inner.startswith("[") else "." + inner)
        else:
            path = field or inner
        return type(self)(self.message, field=path, source=self.source or source)


class SolverError(PrefixPlaceError, RuntimeError):
    """A back end that is missing, cannot do what was asked, or failed."""


class CapacityError(PrefixPlaceError, MemoryError):
    """A run that would need more memory than it may use; the message says how much."""


def shorten(value: object, limit: int = 60) -> str:
    """Return ``repr(value)`` cut to ``limit`` characters, for error messages."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        # Python refuses to print integers of over 4,300 digits.
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def expect(value: object, *kinds: type, field: str) -> None:
    """Raise InputError unless ``value`` is an instance of one of ``kinds``."""
    if not isinstance(value, kinds):
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise InputError(f"expected {names}, got {shorten(value)}", field=field)
