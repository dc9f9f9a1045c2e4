"""Import of traffic: trace files and a workers file in, placement problems out."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefixplace_opt.problem import InputError, Objective, Problem, number, whole_number
from prefixplace_opt.problem.errors import shorten

from .clusters import Cluster, SizedCluster
from .routing import LOAD_CAP, router_named
from .traces import Report, Request, Row, TraceReader, read_rows, reader_for, sniff
from .traces.formats import SNIFFED_ROWS
from .traces.grouping import Grouping
from .traffic import HitRates, Traffic


@dataclass(frozen=True)
class ImportOptions:
    """How traffic becomes instances.

    Parameters
    ----------
    format
        A name from :data:`prefixplace_opt.instances.traces.FORMATS`; None looks at the rows.
    block_tokens
        Tokens of a block in the trace; None takes the format's or the trace's own.
    chunk_tokens
        Tokens of a placement chunk, a multiple of the block's; None for one block a chunk.
    partial_tail
        Whether a prompt's last, partly filled chunk is a chunk; engines do not reuse one.
    route, load_cap, seed
        Which worker gets which request, see :mod:`prefixplace_opt.instances.routing`. The seed
        also draws the sample.
    objective
        None for the one that the workers file's links are declared for.
    keys
        Whether the tree carries its blocks' ids.
    start_s, stop_s
        Only requests with ``start_s <= time < stop_s``, on the trace's clock.
    epoch_s
        Split into epochs of this length, counted from ``start_s`` or the earliest request; None
        for one instance.
    sample
        Share of sessions to keep, in (0, 1]; requests without a session are drawn one by one.
    half_life_s
        See :meth:`prefixplace_opt.instances.traffic.Traffic.epoch`.
    """

    format: str | None = None
    block_tokens: int | None = None
    chunk_tokens: int | None = None
    partial_tail: bool = True
    route: str = "prefix-affinity"
    load_cap: float = LOAD_CAP
    seed: int = 0
    objective: Objective | None = None
    keys: bool = True
    start_s: float | None = None
    stop_s: float | None = None
    epoch_s: float | None = None
    sample: float = 1.0
    half_life_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("block_tokens", "chunk_tokens"):
            if getattr(self, name) is not None:
                whole_number(getattr(self, name), field=name, least=1, most=2**31)
        whole_number(self.seed, field="seed")
        for name in ("epoch_s", "half_life_s"):
            value = getattr(self, name)
            if value is not None and number(value, field=name) == 0:
                raise InputError("expected a number > 0, got 0", field=name)
        if not 0 < number(self.sample, field="sample") <= 1:
            raise InputError(
                f"expected a share in (0, 1], got {shorten(self.sample)}", field="sample"
            )
        for name in ("start_s", "stop_s"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise InputError(f"expected a finite number, got {shorten(value)}", field=name)


@dataclass(frozen=True)
class Imported:
    """One instance and the span of its requests, in seconds on the trace's clock."""

    problem: Problem
    requests: int
    start_s: float
    stop_s: float


@dataclass
class ImportSummary:
    """What an import read.

    Attributes
    ----------
    format
        Name of the trace's format.
    block_tokens, chunk_tokens
        Sizes in tokens.
    report
        Rows, requests and traps met by the reader.
    requests
        Requests imported: within the window, in the sample, with a whole chunk.
    chunks
        Distinct chunks.
    recurring_ids
        Chunks whose id another chunk bears too, under another prefix.
    hits
        Hit rates of an infinite cache.
    """

    format: str
    block_tokens: int
    chunk_tokens: int
    report: Report
    requests: int = 0
    chunks: int = 0
    recurring_ids: int = 0
    hits: HitRates = field(default_factory=HitRates)


#: Called with the bytes read so far of all files, and the requests so far.
OnProgress = Callable[[int, int], None]


def import_traces(
    paths: Sequence[str | os.PathLike[str]],
    cluster: Cluster,
    options: ImportOptions | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> tuple[list[Imported], ImportSummary]:
    """Read trace files, one after another as one stream, and return the instances they make.

    The traffic is streamed: what stays is the tree and 14 bytes a request.

    Raises
    ------
    InputError
        For a fault in a file (naming file, row, field and value) or an option that does not fit.
    """
    options = options or ImportOptions()
    if not paths:
        raise InputError("expected at least one trace file, got none")
    objective = options.objective or cluster.default_objective
    if objective not in ("requester", "pairwise"):
        raise InputError(
            f"expected 'requester' or 'pairwise', got {shorten(objective)}", field="objective"
        )
    cluster.check_objective(objective)
    if options.format is not None:
        reader_for(options.format)
    stream = _Stream(paths, options, on_progress)
    requests = stream.requests()
    first = next(requests, None)
    if first is None:
        raise InputError("expected requests, got none", source=os.fspath(paths[0]))
    block_tokens = stream.block_tokens
    chunk_tokens = options.chunk_tokens or block_tokens
    grouping = Grouping(block_tokens, chunk_tokens, partial_tail=options.partial_tail)
    bytes_per_token = stream.report.bytes_per_token
    sized = cluster.sized(
        chunk_tokens,
        None if bytes_per_token is None else max(1, round(bytes_per_token * chunk_tokens)),
    )
    traffic = Traffic(chunk_tokens)
    router = router_named(
        options.route,
        len(cluster.workers),
        traffic.parents,
        seed=options.seed,
        load_cap=options.load_cap,
    )
    kept = _selected(itertools.chain([first], requests), options, stream.report)
    for request in grouping.chunked(kept, stream.report):
        traffic.add(request, router)
    if traffic.out_of_order:
        stream.report.note("requests older than the one before", traffic.out_of_order)
    if not traffic.requests:
        raise InputError(
            "expected a request with a chunk, in the window and the sample, got none",
            source=os.fspath(paths[0]),
        )
    summary = ImportSummary(
        stream.format,
        block_tokens,
        chunk_tokens,
        stream.report,
        traffic.requests,
        traffic.chunks,
        traffic.recurring_ids(),
        traffic.hits,
    )
    name = Path(paths[0]).name.split(".")[0]
    provenance = _provenance(paths, options, stream.format, cluster)
    del requests, kept, router
    return list(_instances(traffic, sized, objective, options, name, provenance)), summary


class _Stream:
    """The requests of all files, as one reader reads them."""

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        options: ImportOptions,
        on_progress: OnProgress | None,
    ) -> None:
        self.report = Report()
        self.format = options.format or ""
        self._paths = paths
        self._block_tokens = options.block_tokens
        self._reader: TraceReader | None = None
        self._on_progress = on_progress

    @property
    def block_tokens(self) -> int:
        """Tokens of a block; known once a request was read."""
        size = None if self._reader is None else self._reader.block_tokens
        if size is None:
            raise InputError(
                f"expected the size of a block: rows of the format {self.format} do not say it",
                field="block_tokens",
            )
        return size

    def requests(self) -> Iterator[Request]:
        """Yield the requests file by file."""
        before = 0
        for path in self._paths:
            for request in self._file(path, before):
                self.report.requests += 1
                yield request
            before += os.stat(path).st_size  # noqa: PTH116 (also of a string)

    def _file(self, path: str | os.PathLike[str], before: int) -> Iterator[Request]:
        report = self._on_progress
        on_bytes = None if report is None else lambda at: report(before + at, self.report.requests)
        rows: Iterable[Row] = read_rows(path, on_bytes)
        try:
            if self._reader is None:
                rows = self._start(rows)
            if self._reader is not None:
                yield from self._reader.requests(rows, self.report)
        except InputError as error:
            raise error.at(source=os.fspath(path)) from None

    def _start(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Make the reader for the format that the first rows are in."""
        rows = iter(rows)
        head: list[Row] = []
        if not self.format:
            head = list(itertools.islice(rows, SNIFFED_ROWS))
            if not head:
                return head
            self.format = sniff(head)
        self._reader = reader_for(self.format, self._block_tokens)
        return itertools.chain(head, rows)


def _selected(
    requests: Iterable[Request], options: ImportOptions, report: Report
) -> Iterator[Request]:
    """Yield the requests of the window and of the sampled sessions."""
    start = -math.inf if options.start_s is None else options.start_s * 1e3
    stop = math.inf if options.stop_s is None else options.stop_s * 1e3
    limit = math.floor(options.sample * 2**64)
    for at, request in enumerate(requests):
        if not start <= request.time_ms < stop:
            report.note("requests outside the window")
            continue
        if options.sample < 1:
            session = at if request.session is None else request.session
            text = f"{options.seed}\n{type(session).__name__}\n{session}".encode("utf-8", "replace")
            if int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >= limit:
                report.note("requests outside the sample")
                continue
        yield request


def _instances(
    traffic: Traffic,
    sized: SizedCluster,
    objective: Objective,
    options: ImportOptions,
    name: str,
    provenance: dict[str, Any],
) -> Iterator[Imported]:
    for number_, (start, stop) in enumerate(_epochs(traffic, options)):
        try:
            epoch = traffic.epoch(
                len(sized.cluster.workers),
                start_ms=start,
                stop_ms=stop,
                chunk_bytes=sized.chunk_bytes,
                keys=options.keys,
                half_life_ms=None if options.half_life_s is None else options.half_life_s * 1e3,
            )
        except InputError:
            if options.epoch_s is None:
                raise
            continue  # an epoch without requests
        yield Imported(
            Problem(
                epoch.tree,
                sized.workers(epoch.tree.n),
                epoch.demand,
                sized.recompute(epoch.tree.height),
                sized.fetch(objective),
                objective,
                name if options.epoch_s is None else f"{name}-{number_:04d}",
                {**provenance, "requests": epoch.requests},
            ),
            epoch.requests,
            epoch.start_ms / 1e3,
            epoch.stop_ms / 1e3,
        )


def _epochs(traffic: Traffic, options: ImportOptions) -> Iterator[tuple[float, float]]:
    if options.epoch_s is None:
        yield -math.inf, math.inf
        return
    first, last = traffic.span_ms
    start = first if options.start_s is None else options.start_s * 1e3
    step = options.epoch_s * 1e3
    epochs = (last - start) // step + 1
    if epochs > 100_000:
        raise InputError(f"expected at most 100,000 epochs, got {epochs:,.0f}", field="epoch_s")
    for at in range(int(epochs)):
        yield start + at * step, start + (at + 1) * step


def _provenance(
    paths: Sequence[str | os.PathLike[str]], options: ImportOptions, name: str, cluster: Cluster
) -> dict[str, Any]:
    return {
        "import": {
            "traces": [Path(path).name for path in paths],
            "format": name,
            "workers": Path(cluster.source).name,
            **{
                key: value
                for key, value in vars(options).items()
                if key not in ("format", "objective") and value is not None
            },
        }
    }
