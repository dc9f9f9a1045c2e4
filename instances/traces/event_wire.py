"""KV-cache events as vLLM and SGLang publish them, in every shape that is on the wire.

A record is a batch, or a frame around one: ``[topic, sequence, payload]`` or an object with ``seq``
and ``payload`` (or ``batch``); a payload may be packed (bytes, or base64 text). A batch is
``[ts, events, data_parallel_rank]`` or an object of those names; an event is positional with its
type first, or an object with ``type``. Defaults may be left out.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, NamedTuple

from prefixplace_opt.problem import InputError, whole_number
from prefixplace_opt.problem.errors import shorten

from .msgpack import unpack
from .request import BlockId, block_id, milliseconds

#: Positional fields after the type.
FIELDS = {
    "BlockStored": (
        *("block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id"),
        *("medium", "lora_name", "extra_keys", "group_idx"),
    ),
    "BlockRemoved": ("block_hashes", "medium", "group_idx"),
    "AllBlocksCleared": (),
}


class Event(NamedTuple):
    """One event: its type, its fields by name, and where it stands."""

    kind: str
    fields: dict[str, Any]
    where: str


class Batch(NamedTuple):
    """A batch: who sent it, its sequence number if the frame has one, its time, its events."""

    engine: str
    sequence: int | None
    time_ms: float
    events: list[Event]


def is_batch(value: Any) -> bool:
    """Whether a record looks like a batch or a frame around one."""
    if isinstance(value, dict):
        return isinstance(value.get("events"), list) or (
            "seq" in value and ("payload" in value or "batch" in value)
        )
    if _is_frame(value):
        return True
    return isinstance(value, list) and len(value) in (2, 3) and isinstance(value[1], list)


def batch_of(value: Any, where: str) -> Batch:
    """Return the batch that a record holds; raises InputError."""
    topic, sequence, value = _unframed(value, where)
    if isinstance(value, dict):
        value = [value.get("ts"), value.get("events"), value.get("data_parallel_rank")]
    if not isinstance(value, list) or not 2 <= len(value) <= 3:
        raise InputError(f"expected a batch of events, got {shorten(value)}", field=where)
    time = milliseconds(value[0], f"{where}.ts", unit=1e3)
    events = value[1]
    if not isinstance(events, list):
        raise InputError(
            f"expected a list of events, got {shorten(events)}", field=f"{where}.events"
        )
    rank = value[2] if len(value) == 3 else None
    if rank is not None:
        whole_number(rank, field=f"{where}.data_parallel_rank")
    engine = topic if rank is None else f"{topic}#{rank}"
    return Batch(engine, sequence, time, list(_events(events, f"{where}.events")))


def hashes(event: Event) -> list[BlockId]:
    """Return the event's block hashes; bytes become hexadecimal text."""
    field = f"{event.where}.block_hashes"
    value = event.fields.get("block_hashes")
    if not isinstance(value, list):
        raise InputError(f"expected a list of hashes, got {shorten(value)}", field=field)
    return [block_hash(item, f"{field}[{at}]") for at, item in enumerate(value)]


def block_hash(value: Any, where: str) -> BlockId:
    """Return one block hash."""
    return block_id(value.hex() if isinstance(value, bytes) else value, where)


def _is_frame(value: Any) -> bool:
    # A batch starts with its time, a frame with its topic.
    return isinstance(value, list) and len(value) == 3 and isinstance(value[0], bytes | str)


def _unframed(value: Any, where: str) -> tuple[str, int | None, Any]:
    if _is_frame(value):
        topic, sequence, payload = value
    elif isinstance(value, dict) and ("payload" in value or "batch" in value):
        topic, sequence = value.get("topic", ""), value.get("seq")
        payload = value.get("payload", value.get("batch"))
    else:
        return "", None, value
    if isinstance(topic, bytes):
        topic = topic.decode("utf-8", "replace")
    if not isinstance(topic, str):
        raise InputError(f"expected a topic, got {shorten(topic)}", field=f"{where}.topic")
    if isinstance(sequence, bytes) and len(sequence) == 8:
        sequence = int.from_bytes(sequence, "big")
    if sequence is not None:
        sequence = whole_number(sequence, field=f"{where}.seq", most=2**64)
    return topic, sequence, _unpacked(payload, f"{where}.payload")


def _unpacked(payload: Any, where: str) -> Any:
    if isinstance(payload, str):
        try:
            payload = base64.b64decode(payload.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError) as error:
            raise InputError(f"expected base64: {error}", field=where) from None
    if not isinstance(payload, bytes):
        return payload
    try:
        return unpack(payload)
    except InputError as error:
        raise error.at(field=where) from None


def _events(values: list[Any], where: str) -> Iterator[Event]:
    for at, value in enumerate(values):
        field = f"{where}[{at}]"
        if isinstance(value, dict):
            yield Event(_kind(value.get("type"), f"{field}.type"), value, field)
        elif isinstance(value, list) and value:
            kind = _kind(value[0], f"{field}[0]")
            # Fields that a newer engine adds at the end are none of ours.
            yield Event(kind, dict(zip(FIELDS[kind], value[1:], strict=False)), field)
        else:
            raise InputError(f"expected an event, got {shorten(value)}", field=field)


def _kind(value: Any, where: str) -> str:
    if not isinstance(value, str) or value not in FIELDS:
        raise InputError(f"expected one of {', '.join(FIELDS)}, got {shorten(value)}", field=where)
    return value
