"""`prefixplace show crossover`: where fetching a chunk becomes cheaper than recomputing it."""

from typing import Annotated

import typer

from . import arguments
from .failures import naming_options
from .output import print_json, print_table


def crossover(
    gpu: Annotated[
        list[str] | None,
        typer.Option("--gpu", metavar="NAME", help="Only this GPU; may be repeated."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Model of the catalogue.")
    ] = "qwen2.5-7b",
    chunk_tokens: Annotated[
        int, typer.Option("--chunk-tokens", metavar="N", help="Tokens of a chunk.")
    ] = 512,
    goodput_gbps: Annotated[
        float, typer.Option("--goodput-gbps", metavar="GBPS", help="Gb/s that the link delivers.")
    ] = 3.0,
    latency_ms: Annotated[
        float, typer.Option("--latency-ms", metavar="MS", help="Added to every transfer.")
    ] = 0.0,
    analytical: Annotated[
        bool, typer.Option("--analytical", help="Operation counts also where a curve is known.")
    ] = False,
    json: arguments.Json = False,
) -> None:
    """Show for each GPU at which prefix length fetching a chunk beats recomputing it."""
    from prefixplace_opt.instances.crossover import crossover as compare
    from prefixplace_opt.instances.hardware import catalogue
    from prefixplace_opt.problem import InputError, whole_number

    known = catalogue()
    with naming_options("chunk_tokens", "goodput_gbps", "latency_ms", "model", "gpu"):
        whole_number(chunk_tokens, field="chunk_tokens", least=1)
        try:
            chosen = known.model(model)
        except InputError as error:
            raise error.at(field="model") from None
        rows = []
        for name in gpu or [chip.name for chip in known.gpus.values()]:
            try:
                profile = known.profile(name, chosen, chunk_tokens, analytical=analytical)
            except InputError as error:
                raise error.at(field="" if error.field else "gpu") from None
            found = compare(
                profile,
                chunk_bytes=chosen.chunk_bytes(chunk_tokens),
                goodput_gbps=goodput_gbps,
                latency_ms=latency_ms,
            )
            rows.append((known.gpu(name).name, profile, found))
    chunk_bytes = chosen.chunk_bytes(chunk_tokens)
    if json:
        print_json(
            {
                "command": "show crossover",
                "model": chosen.name,
                "chunk_tokens": chunk_tokens,
                "chunk_bytes": chunk_bytes,
                "goodput_gbps": goodput_gbps,
                "latency_ms": latency_ms,
                "gpus": [
                    {
                        "gpu": name,
                        "profile": profile.kind,
                        "source": profile.source,
                        "first_chunk_ms": profile.milliseconds(0),
                        "fetch_ms": found.fetch_ms,
                        "crossover_prefix_tokens": found.first_token,
                        "fetch_wins": found.fetch_wins,
                        "break_even_gbps": found.break_even_gbps,
                        "verdict": found.verdict,
                    }
                    for name, profile, found in rows
                ],
            }
        )
        return
    print_table(
        ("GPU", "recompute", "first chunk", "fetch", "always above", "fetching wins"),
        [
            (
                name,
                profile.kind,
                f"{profile.milliseconds(0):.1f} ms",
                f"{found.fetch_ms:.1f} ms",
                f"{found.break_even_gbps:.1f} Gb/s",
                found.verdict.removeprefix("fetching wins "),
            )
            for name, profile, found in rows
        ],
        title=f"{chosen.name}, chunks of {chunk_tokens} tokens ({chunk_bytes:,} bytes), "
        f"{goodput_gbps:g} Gb/s + {latency_ms:g} ms",
        left=("recompute", "fetching wins"),
    )
