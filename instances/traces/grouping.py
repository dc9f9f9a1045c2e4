"""From a trace's blocks to placement chunks of a whole multiple of their size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prefixplace_opt.problem import InputError

from .request import BlockId, Report, Request

Element = BlockId


class ChunkedRequest(NamedTuple):
    """A request as a path of chunks; ``tokens`` is the whole prompt, also what no chunk covers."""

    time_ms: float
    path: list[BlockId]
    tokens: int


class Grouping:
    """Turns blocks of ``block_tokens`` into chunks of ``chunk_tokens``.

    A chunk's id is its blocks' ids, joined by ``+``: two requests share a chunk only where they
    share all of its blocks, and everything before. A tail that does not fill a chunk (a last block
    that is partial, or fewer blocks than a chunk has) is a chunk of its own, shared only with an
    equal tail, or is dropped.
    """

    def __init__(self, block_tokens: int, chunk_tokens: int, *, partial_tail: bool) -> None:
        self._blocks, rest = divmod(chunk_tokens, block_tokens)
        if rest or not self._blocks:
            raise InputError(
                f"expected a multiple of the trace's blocks of {block_tokens}, got {chunk_tokens}",
                field="chunk_tokens",
            )
        self._size = block_tokens
        self._keep = partial_tail

    def chunked(self, requests: Iterable[Request], report: Report) -> Iterator[ChunkedRequest]:
        """Yield the requests as paths of chunks; those without one are counted and left out."""
        size, per_chunk, keep = self._size, self._blocks, self._keep
        for request in requests:
            path = list(request.blocks)
            tokens = request.tokens
            partial = 0 < len(path) * size - tokens < size
            if partial:
                report.note("partial last blocks")
            if partial and not keep:
                path.pop()
            if per_chunk > 1:
                path = _joined(path, per_chunk, keep)
            if not path:
                report.note("rows without structure (no whole chunk)")
                continue
            yield ChunkedRequest(request.time_ms, path, tokens)


def _joined(path: list[BlockId], per_chunk: int, keep: bool) -> list[BlockId]:
    stop = len(path) if keep else len(path) // per_chunk * per_chunk
    ids = list(map(str, path))
    return ["+".join(ids[at : at + per_chunk]) for at in range(0, stop, per_chunk)]
