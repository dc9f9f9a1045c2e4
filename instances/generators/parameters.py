"""A family's parameters: declared once, checked, and read from keywords, TOML or flags."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Self, get_type_hints

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten


def parameter(
    default: Any,
    help: str,  # noqa: A002 - the word that every command line uses
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """Declare one parameter of a family: default, meaning with unit, range or choices."""
    metadata = {"help": help, "least": least, "most": most, "choices": choices}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base of every family's parameters; a field is declared with :func:`parameter`.

    Raises
    ------
    InputError
        For a value of the wrong type, out of range, or none of the choices.
    """

    #: Exclusive pairs of fields ``(smaller, larger)`` that must be in order.
    ordered: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __post_init__(self) -> None:
        for own in described(type(self)):
            object.__setattr__(self, own.name, own.checked(getattr(self, own.name)))
        for smaller, larger in self.ordered:
            least, most = getattr(self, smaller), getattr(self, larger)
            if least > most:
                raise InputError(
                    f"expected at most {larger}, which is {most}, got {least}",
                    field=smaller,
                )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Build parameters from a mapping; an unknown name is an error that suggests another."""
        known = [own.name for own in fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
                raise InputError(f"unknown parameter {shorten(name)}{hint}", field="parameters")
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return every parameter that is set, JSON-ready."""
        values = {own.name: getattr(self, own.name) for own in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Described:
    """One declared parameter: ``kind`` is int, float, str or bool; ``optional`` admits None."""

    name: str
    kind: type
    optional: bool
    default: Any
    help: str
    least: float | None
    most: float | None
    choices: tuple[str, ...] | None

    def checked(self, value: Any) -> Any:
        """Return ``value`` as ``kind``; raises InputError."""
        if value is None and self.optional:
            return None
        if self.kind is bool:
            good = isinstance(value, bool)
        elif self.kind is str:
            good = isinstance(value, str) and (self.choices is None or value in self.choices)
        else:
            good = _is_number(value, whole=self.kind is int) and self._in_range(value)
        if not good:
            raise InputError(f"expected {self.expected}, got {shorten(value)}", field=self.name)
        return self.kind(value)

    @property
    def expected(self) -> str:
        """What a value must be, for messages and help."""
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        noun = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[
            self.kind
        ]
        if self.least is not None and self.most is not None:
            return f"{noun} from {self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"{noun} of at least {self.least:g}"
        return noun

    def _in_range(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


def described(parameters: type[Parameters]) -> Iterator[Described]:
    """Yield what is known of each parameter, in order of declaration."""
    hints = get_type_hints(parameters)
    for own in fields(parameters):
        yield _described(own, hints[own.name])


def _described(own: Field[Any], hint: Any) -> Described:
    kinds = getattr(hint, "__args__", (hint,))
    assert own.default is not MISSING
    return Described(
        name=own.name,
        kind=next(kind for kind in kinds if kind is not type(None)),
        optional=type(None) in kinds,
        default=own.default,
        **own.metadata,
    )


def _is_number(value: object, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return abs(value) < 2**63
    return math.isfinite(value) and (not whole or value.is_integer())
