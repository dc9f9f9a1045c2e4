"""Bytes in and out of files: gzip bombs, damaged and half-written files do not get through."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .errors import InputError, expect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

#: A gzip file may unpack to this many bytes whatever its size, and beyond that to
#: ``GZIP_RATIO`` times its size: our own files pack 5 to 40 times, a bomb 1,000 times.
GZIP_FREE_BYTES = 64 * 2**20
GZIP_RATIO = 200

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a file to read; what goes wrong in the block is an InputError that names the file.

    Raises
    ------
    InputError
        Where the file cannot be opened or read, is a damaged gzip file, or the block raises one.
    """
    expect(path, str, os.PathLike, field="path")
    source = os.fspath(path)
    if "\0" in source:
        raise InputError("expected a file name, got a zero byte in it", source=source)
    try:
        with Path(path).open("rb") as file:
            yield file
    except InputError as error:
        raise error.at(source=source) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"expected a whole gzip file, but it is damaged: {error}", source=source
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=source) from None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, unpacked where it is gzipped, whatever its name.

    Raises
    ------
    InputError
        Where the file cannot be read, is damaged, or unpacks to an absurd size.
    """
    with opened(path) as file:
        # A pipe cannot be rewound, so the first bytes are looked at without being read.
        if file.peek(2)[:2] != GZIP_MAGIC:
            return file.read()
        size = os.fstat(file.fileno()).st_size
        limit = max(GZIP_FREE_BYTES, GZIP_RATIO * size)
        parts = []
        total = 0
        with gzip.open(file, "rb") as stream:
            while part := stream.read(1 << 20):
                total += len(part)
                if total > limit:
                    raise InputError(
                        f"unpacks {size} bytes to more than {limit}, "
                        "which no file of this format does"
                    )
                parts.append(part)
        return b"".join(parts)


def write_bytes(path: str | os.PathLike[str], raw: bytes) -> None:
    """Write a file so that a reader finds the old content or the new one, never a part.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    with replacing(path) as file:
        file.write(raw)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write, which takes the place of ``path`` when the block ends without error.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    expect(path, str, os.PathLike, field="path")
    target = Path(path)
    temporary = ""
    try:
        if target.exists() and not target.is_file():
            # A device or pipe (/dev/stdout) cannot be replaced by renaming.
            if target.is_dir():
                raise InputError("cannot be written: it is a directory", source=os.fspath(path))
            with target.open("wb") as file:
                yield file
            return
        descriptor, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        with os.fdopen(descriptor, "wb") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", source=os.fspath(path)
        ) from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
