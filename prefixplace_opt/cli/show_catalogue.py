"""`prefixplace show hardware` and `show traces`: what the importer knows."""

from typing import Annotated

import typer

from . import arguments
from .output import print_json, print_table


def hardware(
    sources: Annotated[
        bool, typer.Option("--sources", help="Print where each figure comes from.")
    ] = False,
    json: arguments.Json = False,
) -> None:
    """List the GPUs, models and recompute curves of the catalogue, and the workers files."""
    from dataclasses import asdict

    from prefixplace_opt.instances.clusters import shipped_clusters
    from prefixplace_opt.instances.hardware import catalogue

    known = catalogue()
    gpus, models = list(known.gpus.values()), list(known.models.values())
    curves = [(gpu.upper(), model, curve) for (gpu, model), curve in known.profiles.items()]
    if json:
        print_json(
            {
                "command": "show hardware",
                "gpus": [asdict(gpu) for gpu in gpus],
                "models": [
                    {**asdict(model), "bytes_per_token": model.chunk_bytes(1)} for model in models
                ],
                "profiles": [
                    {"gpu": gpu, "model": model, **asdict(curve)} for gpu, model, curve in curves
                ],
                "workers": shipped_clusters(),
            }
        )
        return
    last = ("source",) if sources else ()
    print_table(
        ("GPU", "TFLOP/s, 16-bit dense", "memory, GB", *last),
        [(each.name, each.tflops, each.memory_gb, *_source(each.source, sources)) for each in gpus],
        left=last,
    )
    print_table(
        ("model", "layers", "KV heads", "weights/token, 10^9", "KV bytes/token", *last),
        [
            (
                each.name,
                each.layers,
                each.kv_heads,
                round(each.token_parameters / 1e9, 2),
                each.chunk_bytes(1),
                *_source(each.source, sources),
            )
            for each in models
        ],
        left=last,
    )
    print_table(
        ("recompute curve", "model", "kind", "chunk", "first chunk, ms", "at 32,768, ms", *last),
        [
            (
                gpu,
                model,
                curve.kind,
                curve.chunk_tokens,
                curve.milliseconds(0),
                curve.milliseconds(32768),
                *_source(curve.source, sources),
            )
            for gpu, model, curve in curves
        ],
        left=("model", "kind", *last),
    )
    typer.echo(f"Shipped workers files: {', '.join(shipped_clusters())}.")


def traces(json: arguments.Json = False) -> None:
    """List the trace formats that `prefixplace import` reads."""
    from prefixplace_opt.instances.traces import FORMATS

    if json:
        rows = [{"name": each.name, "summary": each.summary} for each in FORMATS.values()]
        print_json({"command": "show traces", "formats": rows})
        return
    print_table(
        ("--format", "what it reads"),
        [(each.name, each.summary) for each in FORMATS.values()],
        left=("what it reads",),
    )


def _source(text: str, wanted: bool) -> tuple[str, ...]:
    return (text,) if wanted else ()
