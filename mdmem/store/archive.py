"""Archives: what a closed year's file becomes, one plain zstd frame that `zstd -dc` opens, and back.

Owns the format and its bounds. An archive may come with a clone, so that nothing it says is believed before it is
checked: not its size, not its window, not that it ends where it should. It must never read or write a file.
"""

from __future__ import annotations

from typing import Any

from mdmem.errors import StorageFailed

LIMIT = 64 * 2**20
"""Bytes that an archive may hold: many times what a person writes in a year."""

WINDOW = 8 * 2**20
"""Bytes that a reader must keep to follow references back; every zstd opens such a frame without being asked to."""

STEP = 1024
"""Bytes taken at once: 4 KiB of a bomb can become 134 MB before anyone has a chance to count them."""

LEVEL = 19
"""Written once, read for years: half a second a megabyte, for a twelfth less than at level 12 (of mixed texts)."""

MAGIC = b"\x28\xb5\x2f\xfd"


def compress(data: bytes) -> bytes:
    """Return the bytes as one frame with its size and a checksum, without a dictionary. StorageFailed above LIMIT."""
    import zstandard

    if len(data) > LIMIT:
        raise StorageFailed(f"{len(data):,} bytes are too many for an archive", f"it holds at most {LIMIT:,}")
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL, source_size=len(data), write_checksum=True, write_content_size=True, write_dict_id=False
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(data)


def expand(data: bytes) -> bytes:
    """Return what an archive holds. StorageFailed, which names what is wrong, for anything but one whole frame."""
    import zstandard

    size = _stated_size(data)
    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
    parts: list[bytes] = []
    known = taken = 0
    try:
        while not reader.eof and taken < len(data):
            parts.append(reader.decompress(data[taken : taken + STEP]))
            taken += STEP
            known += len(parts[-1])
            if known > size:
                raise _unusable(f"holds more than the {size:,} bytes it states")
    except zstandard.ZstdError as error:
        raise _unusable(f"is damaged: {_reason(error)}") from error
    _require_end(reader, data, taken)
    return b"".join(parts)


def _stated_size(data: bytes) -> int:
    """Return how much a frame says it holds, once its head is one that may be read at all."""
    import zstandard

    if data[:4] != MAGIC:
        raise _unusable("does not begin as a zstd frame does" if data else "is empty")
    try:
        head = zstandard.get_frame_parameters(data)
    except zstandard.ZstdError as error:
        raise _unusable(f"has no readable head: {_reason(error)}") from error
    if head.content_size in (zstandard.CONTENTSIZE_UNKNOWN, zstandard.CONTENTSIZE_ERROR):
        raise _unusable("does not state its size", "pack it anew with `zstd FILE`, which states it")
    if head.content_size > LIMIT:
        raise _unusable(f"states a size of {head.content_size:,} bytes, above the {LIMIT:,} that are read")
    if head.window_size > WINDOW:
        raise _unusable(
            f"needs a window of {head.window_size:,} bytes, above {WINDOW:,}", "pack it anew without --long"
        )
    if head.dict_id:
        raise _unusable("needs a dictionary", "pack it anew without one")
    return int(head.content_size)


def _require_end(reader: Any, data: bytes, taken: int) -> None:
    if not reader.eof:
        raise _unusable("is cut short")
    after = len(reader.unused_data) + max(0, len(data) - taken)
    if after:
        raise _unusable(f"goes on for {after:,} bytes after its end")


def _reason(error: Exception) -> str:
    """Return the last part of what zstd says: `decompression error: Restored data doesn't match checksum`."""
    return str(error).rpartition(": ")[2]


def _unusable(what: str, hint: str = "take it from history, or from a backup; nothing of it was read") -> StorageFailed:
    return StorageFailed(f"the archive {what}", hint)
