"""KV-cache events of vLLM and SGLang, read as the requests that must have caused them.

Engines publish which blocks they store, not which requests they serve. A store below a parent says
that some prompt had the parent's whole path and then the new blocks, so that it is read as a
request for all of them. What is wholly cached causes no event: demand from events is a lower bound.

A prompt is stored in pieces (chunked prefill, then block by block while it is decoded): a store
that goes on where an earlier one of its engine ended, within ``JOIN_MS``, belongs to the same
request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from prefixplace_opt.problem import InputError, whole_number

from .event_wire import Batch, Event, batch_of, block_hash, hashes
from .request import BlockId, Report, Request, Row

#: A store within this time after the one that it goes on from belongs to the same request.
JOIN_MS = 2000.0

#: The tier that requests compute into; a store elsewhere is a copy of a block.
DEVICE = ("GPU", "DEVICE", "HBM")

#: Most stores that wait for a parent to be reported.
MOST_WAITING = 1 << 20


@dataclass
class _Open:
    """A request that may still go on."""

    start_ms: float
    last_ms: float
    tail: BlockId


class _Store(NamedTuple):
    """A store of new blocks below ``parent``."""

    engine: str
    time_ms: float
    parent: BlockId | None
    blocks: list[BlockId]


@dataclass
class _Engine:
    """What is known of one publisher."""

    sequence: int | None = None
    held: set[BlockId] = field(default_factory=set)


class KvEventsReader:
    """Batches of ``BlockStored``, ``BlockRemoved`` and ``AllBlocksCleared``."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self.block_tokens: int | None = block_tokens
        self._parent: dict[BlockId, BlockId | None] = {}
        self._engines: dict[str, _Engine] = {}
        self._waiting: dict[BlockId, list[_Store]] = {}
        self._waiting_count = 0
        # In order of their start, so that requests come out in that order.
        self._open: OrderedDict[tuple[str, BlockId, int], _Open] = OrderedDict()
        self._by_tail: dict[tuple[str, BlockId], tuple[str, BlockId, int]] = {}
        self._number = 0
        self._files = 0

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield the requests of one file's batches, in order of their first store."""
        self._files += 1
        for row in rows:
            batch = batch_of(row.value, row.where)
            engine = f"{self._files}:{batch.engine}"
            self._check_sequence(batch, engine, report)
            for event in batch.events:
                report.rows += 1
                if event.kind == "BlockStored":
                    self._stored(event, batch.time_ms, engine, report)
                else:
                    self._removed(event, engine, report)
            yield from self._closed(batch.time_ms)
        yield from self._closed(float("inf"))
        lost = sum(map(len, self._waiting.values()))
        if lost:
            report.note("stores whose parent was never reported (left out)", lost)
        self._waiting.clear()
        self._waiting_count = 0

    def _check_sequence(self, batch: Batch, engine: str, report: Report) -> None:
        state = self._engines.setdefault(engine, _Engine())
        if batch.sequence is None:
            return
        if state.sequence is None and batch.sequence > 0:
            report.note("streams joined late")
        if state.sequence is not None and batch.sequence != state.sequence + 1:
            report.note("gaps in the sequence of batches")
        state.sequence = batch.sequence

    def _stored(self, event: Event, time: float, engine: str, report: Report) -> None:
        blocks = hashes(event)
        group = event.fields.get("group_idx")
        if group is not None and whole_number(group, field=f"{event.where}.group_idx") > 0:
            report.note("stores of further cache groups (left out)")
            return
        self._check_size(event, len(blocks), report)
        parent = event.fields.get("parent_block_hash")
        above = None if parent is None else block_hash(parent, f"{event.where}.parent_block_hash")
        if not blocks:
            return
        medium = event.fields.get("medium")
        if medium is not None and str(medium).upper() not in DEVICE:
            # A copy to a lower tier: it names blocks and says nothing about requests.
            report.note("stores on other tiers (no request)")
            if above is None or above in self._parent:
                self._link(_Store(engine, time, above, blocks), report)
            return
        held = self._engines[engine].held
        again = len(held.intersection(blocks))
        if again:
            report.note("blocks stored though held", again)
        held.update(blocks)
        self._place(_Store(engine, time, above, blocks), report)

    def _check_size(self, event: Event, blocks: int, report: Report) -> None:
        size = event.fields.get("block_size")
        if size is not None:
            size = whole_number(size, field=f"{event.where}.block_size", least=1)
            if self.block_tokens is None:
                self.block_tokens = size
            elif self.block_tokens != size:
                raise InputError(
                    f"expected {self.block_tokens} as before, got {size}",
                    field=f"{event.where}.block_size",
                )
        tokens = event.fields.get("token_ids")
        if isinstance(tokens, list) and tokens and self.block_tokens is not None:
            if len(tokens) > blocks * self.block_tokens:
                report.note("stores with more token ids than their blocks hold")
            elif len(tokens) < blocks * self.block_tokens:
                report.note("stores with fewer token ids than their blocks hold")

    def _removed(self, event: Event, engine: str, report: Report) -> None:
        held = self._engines[engine].held
        if event.kind == "AllBlocksCleared":
            report.note("caches cleared")
            held.clear()
            return
        gone = hashes(event)
        medium = event.fields.get("medium")
        if medium is None or str(medium).upper() in DEVICE:
            held.difference_update(gone)
        # A removal, or a move to a lower tier: the block keeps its place in the tree.
        report.note("blocks removed", len(gone))

    def _place(self, store: _Store, report: Report) -> None:
        """Put a store, and the ones that waited for its blocks, into the tree."""
        ready = [store]
        while ready:
            each = ready.pop()
            if each.parent is not None and each.parent not in self._parent:
                if self._waiting_count >= MOST_WAITING:
                    raise InputError(
                        f"more than {MOST_WAITING} stores wait for a parent that was not reported"
                    )
                self._waiting_count += 1
                self._waiting.setdefault(each.parent, []).append(each)
                report.note("stores before their parent's")
                continue
            self._link(each, report)
            self._extend(each)
            for block in each.blocks:
                late = self._waiting.pop(block, ())
                self._waiting_count -= len(late)
                ready.extend(reversed(late))

    def _link(self, store: _Store, report: Report) -> None:
        # A parent is always known before its child, so that no path runs in a circle.
        above = store.parent
        for block in store.blocks:
            if self._parent.setdefault(block, above) != above:
                report.note("blocks reported below a second parent (the first is kept)")
            above = block

    def _extend(self, store: _Store) -> None:
        """Let a store continue an open request, or open one."""
        tail = store.blocks[-1]
        if store.parent is not None:
            place = (store.engine, store.parent)
            before = self._by_tail.get(place)
            if before is not None and store.time_ms - self._open[before].last_ms <= JOIN_MS:
                del self._by_tail[place]
                self._open[before].last_ms = store.time_ms
                self._open[before].tail = tail
                self._by_tail[store.engine, tail] = before
                return
        self._number += 1
        key = (store.engine, tail, self._number)
        self._open[key] = _Open(store.time_ms, store.time_ms, tail)
        self._by_tail[store.engine, tail] = key

    def _closed(self, now: float) -> Iterator[Request]:
        """Yield the requests that cannot go on any more, oldest first."""
        while self._open:
            key, request = next(iter(self._open.items()))
            if now - request.last_ms <= JOIN_MS:
                return
            del self._open[key]
            if self._by_tail.get((key[0], request.tail)) == key:
                del self._by_tail[key[0], request.tail]
            path: list[BlockId] = []
            block: BlockId | None = request.tail
            while block is not None:
                path.append(block)
                block = self._parent[block]
            if self.block_tokens is None:
                raise InputError(
                    "expected 'block_size' in the events, or the size of a block given",
                    field="block_tokens",
                )
            yield Request(request.start_ms, path[::-1], len(path) * self.block_tokens, None)
