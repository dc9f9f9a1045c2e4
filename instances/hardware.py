"""Models and GPUs: bytes of a chunk, and what it costs to recompute it.

The shipped catalogue is ``hardware.toml`` beside this module; each figure there names its source.

The analytical profile counts the floating-point operations of prefilling C tokens behind p:

    linear layers   2 P C                            P = weights that multiply a token
    attention       4 L H d (C p + C (C + 1) / 2)    L layers, H query heads of size d

and divides each part by the GPU's peak rate times an efficiency of its own: matrix products run
near the peak, attention far from it. No floor for reading the weights is taken: a chunk is part of
a longer prefill, which reads them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any, TypeVar, get_args

from prefixplace_opt.problem import InputError, number, whole_number
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import members

from .profiles import Kind, LineProfile, Profile, TableProfile
from .toml_files import parse_toml

#: Between what the two measured curves of the catalogue reach: 0.45 and 0.32 of the peak in the
#: linear layers, 0.13 and 0.17 in attention.
LINEAR_EFFICIENCY = 0.4
ATTENTION_EFFICIENCY = 0.15


@dataclass(frozen=True)
class Model:
    """A decoder-only transformer with gated feed-forward layers, by the numbers of its config file.

    Parameters
    ----------
    name
        Its name in the catalogue, or the user's.
    layers, hidden_size, intermediate_size, attention_heads, kv_heads, head_size
        As in the model's ``config.json``.
    active_experts
        Feed-forward blocks that a token passes: 1 for a dense model.
    bytes_per_element
        Of the KV cache: 2 for 16-bit, 1 for 8-bit; 0.5 for 4-bit.
    source
        Where the numbers come from.
    """

    name: str
    layers: int
    hidden_size: int
    intermediate_size: int
    attention_heads: int
    kv_heads: int
    head_size: int
    active_experts: int = 1
    bytes_per_element: float = 2.0
    source: str = ""

    def __post_init__(self) -> None:
        for own in fields(self):
            if own.name not in ("name", "source", "bytes_per_element"):
                whole_number(getattr(self, own.name), field=own.name, least=1)
        if number(self.bytes_per_element, field="bytes_per_element") == 0:
            raise InputError("expected a number > 0, got 0", field="bytes_per_element")

    @property
    def token_parameters(self) -> int:
        """Weights that multiply every token of a prefill: all but embedding and output head."""
        width = self.head_size * (2 * self.attention_heads + 2 * self.kv_heads)
        feed_forward = 3 * self.intermediate_size * self.active_experts
        return self.layers * self.hidden_size * (width + feed_forward)

    def chunk_bytes(self, chunk_tokens: int) -> int:
        """Return the bytes of a chunk's keys and values over all layers."""
        elements = 2 * self.layers * self.kv_heads * self.head_size * chunk_tokens
        return max(1, round(elements * self.bytes_per_element))


@dataclass(frozen=True)
class Gpu:
    """A GPU: dense 16-bit tensor peak in TFLOP/s, and memory in GB (10^9 bytes)."""

    name: str
    tflops: float
    memory_gb: float
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("tflops", "memory_gb"):
            if number(getattr(self, name), field=name) == 0:
                raise InputError("expected a number > 0, got 0", field=name)


@dataclass(frozen=True)
class Catalogue:
    """GPUs and models by name, and recompute profiles by (GPU, model); names ignore case."""

    gpus: Mapping[str, Gpu]
    models: Mapping[str, Model]
    profiles: Mapping[tuple[str, str], Profile]

    def gpu(self, name: str) -> Gpu:
        """Return a GPU; raises InputError with the known names."""
        return _named(self.gpus, name, "GPU")

    def model(self, name: str) -> Model:
        """Return a model; raises InputError with the known names."""
        return _named(self.models, name, "model")

    def profile(
        self, gpu: str, model: Model, chunk_tokens: int, *, gpus: int = 1, analytical: bool = False
    ) -> Profile:
        """Return what ``gpus`` GPUs together need for a chunk of ``chunk_tokens`` tokens.

        The curve of the catalogue where there is one for a single GPU of the kind, the analytical
        profile otherwise, or always with ``analytical=True``.

        Raises
        ------
        InputError
            For an unknown GPU, or a chunk size that the catalogue's curve does not cover.
        """
        chip = self.gpu(gpu)
        known = self.profiles.get((chip.name.lower(), model.name.lower()))
        if known is not None and gpus == 1 and not analytical:
            return known.for_chunk(chunk_tokens)
        return analytical_profile(chip, model, chunk_tokens, gpus=gpus)


def analytical_profile(
    gpu: Gpu,
    model: Model,
    chunk_tokens: int,
    *,
    gpus: int = 1,
    linear_efficiency: float = LINEAR_EFFICIENCY,
    attention_efficiency: float = ATTENTION_EFFICIENCY,
) -> LineProfile:
    """Return the profile from operation counts (see the module's formula), an estimate.

    Parameters
    ----------
    gpus
        GPUs that work on a chunk together, >= 1; their rates add.
    linear_efficiency, attention_efficiency
        Share of the peak that is reached, in (0, 1].
    """
    for name, share in (
        ("linear_efficiency", linear_efficiency),
        ("attention_efficiency", attention_efficiency),
    ):
        if not 0 < number(share, field=name) <= 1:
            raise InputError(f"expected a share in (0, 1], got {shorten(share)}", field=name)
    whole_number(gpus, field="gpus", least=1)
    per_ms = gpu.tflops * 1e9 * gpus
    pair = (
        4 * model.layers * model.attention_heads * model.head_size / (per_ms * attention_efficiency)
    )
    linear = 2 * model.token_parameters * chunk_tokens / (per_ms * linear_efficiency)
    own = chunk_tokens * (chunk_tokens + 1) / 2
    return LineProfile(
        chunk_tokens,
        base_ms=linear + pair * own,
        per_prefix_token_ms=pair * chunk_tokens,
        kind="analytical",
        source=f"operation counts of {model.name} at {gpus} x {gpu.tflops:g} TFLOP/s, "
        f"efficiency {linear_efficiency:g} (linear) and {attention_efficiency:g} (attention)",
    )


@cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue."""
    raw = resources.files(__package__).joinpath("hardware.toml").read_bytes()
    return catalogue_from_document(parse_toml(raw, source="hardware.toml"))


def catalogue_from_document(document: dict[str, Any]) -> Catalogue:
    """Build a catalogue from its TOML; raises InputError naming the entry at fault."""
    members(document, "", required=("gpus", "models", "profiles"))
    gpus = {
        name.lower(): Gpu(
            name, **members(entry, f"gpus.{name}", required=("tflops", "memory_gb", "source"))
        )
        for name, entry in document["gpus"].items()
    }
    models = {
        name.lower(): model_from_document(name, entry, f"models.{name}")
        for name, entry in document["models"].items()
    }
    profiles = {}
    for at, entry in enumerate(document["profiles"]):
        field = f"profiles[{at}]"
        profile = profile_from_document(entry, field, catalogued=True)
        profiles[entry["gpu"].lower(), entry["model"].lower()] = profile
    return Catalogue(gpus, models, profiles)


def model_from_document(name: str, entry: Any, field: str) -> Model:
    """Build a model from a TOML table with the numbers of its config file."""
    required = tuple(own.name for own in fields(Model))[1:7]
    optional = ("active_experts", "bytes_per_element", "source")
    content = members(entry, field, required=required, optional=optional)
    try:
        return Model(name, **content)
    except InputError as error:
        raise error.at(field=field) from None


def profile_from_document(
    entry: Any, field: str, *, chunk_tokens: int | None = None, catalogued: bool = False
) -> Profile:
    """Build a profile from a TOML table: a line or a curve.

    A line has ``base_ms`` and ``per_prefix_token_ms``, a curve ``prefix_tokens`` and ``cost_ms``;
    both may name their ``chunk_tokens`` (default ``chunk_tokens``) and ``source``.
    """
    if not isinstance(entry, dict):
        raise InputError(f"expected a table, got {shorten(entry)}", field=field)
    curve = "prefix_tokens" in entry or "cost_ms" in entry
    shape = ("prefix_tokens", "cost_ms") if curve else ("base_ms", "per_prefix_token_ms")
    if catalogued:
        members(entry, field, required=("gpu", "model", "kind", "source", "chunk_tokens", *shape))
    else:
        members(entry, field, required=shape, optional=("chunk_tokens", "source"))
    kind = entry.get("kind", "declared")
    if kind not in get_args(Kind):
        raise InputError(
            f"expected one of {', '.join(get_args(Kind))}, got {shorten(kind)}",
            field=f"{field}.kind",
        )
    source = entry.get("source", "")
    if not isinstance(source, str):
        raise InputError(f"expected a string, got {shorten(source)}", field=f"{field}.source")
    tokens: Any = entry.get("chunk_tokens", chunk_tokens)
    build: Any = TableProfile if curve else LineProfile
    try:
        profile: Profile = build(tokens, entry[shape[0]], entry[shape[1]], kind=kind, source=source)
    except InputError as error:
        raise error.at(field=field) from None
    return profile


T = TypeVar("T", Gpu, Model)


def _named(entries: Mapping[str, T], name: str, kind: str) -> T:
    found = entries.get(str(name).lower())
    if found is None:
        known = ", ".join(entry.name for entry in entries.values())
        raise InputError(f"expected a {kind} of the catalogue ({known}), got {shorten(name)}")
    return found
