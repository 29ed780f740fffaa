"""Archives: round trips, what `zstd` itself makes of them, and everything that must not be read."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mdmem.errors import StorageFailed
from mdmem.store import archive

MIB = 2**20
LOG = b"# 2024-11-29\n\n" + b"".join(b"- 14:%02d Decided on thing %d. #tag\n" % (i % 60, i) for i in range(500))
FRAME = archive.compress(LOG)
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"


def head(size: int, *, window: int | None = None, dictionary: int = 0) -> bytes:
    """Return the head of a frame that states this size, by RFC 8878: 8 bytes of size, a window unless one segment."""
    flags = 0b11000000 | (0 if window is not None else 0b00100000) | (0b11 if dictionary else 0)
    descriptor = b"" if window is None else bytes([window << 3])
    return (
        archive.MAGIC
        + bytes([flags])
        + descriptor
        + struct.pack("<I", dictionary)[: 4 if dictionary else 0]
        + (struct.pack("<Q", size))
    )


def bomb(stated: int, blocks: int, *, window: int | None = 13) -> bytes:
    """Return a frame of blocks that each repeat one byte 128 KiB times, three bytes a block of input."""
    block = ((128 * 1024) << 3 | 0b010).to_bytes(3, "little") + b"x"
    last = ((128 * 1024) << 3 | 0b011).to_bytes(3, "little") + b"x"
    return head(stated, window=window) + block * (blocks - 1) + last


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=5000))
@example(b"")
@example(LOG)
def test_what_is_packed_comes_back(data: bytes) -> None:
    assert archive.expand(archive.compress(data)) == data


def test_the_largest_comes_back_and_a_larger_one_is_refused() -> None:
    data = bytes(range(256)) * (archive.LIMIT // 256)
    assert archive.expand(archive.compress(data)) == data
    with pytest.raises(StorageFailed, match="too many"):
        archive.compress(data + b"x")


def test_logs_shrink_to_less_than_a_third() -> None:
    assert len(FRAME) * 3 < len(LOG)


@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd is not installed")
@pytest.mark.parametrize("data", [b"", b"x", LOG, LOG * 400])
def test_the_program_zstd_opens_ours_and_we_open_its(data: bytes) -> None:
    opened = subprocess.run(["zstd", "-dc"], input=archive.compress(data), capture_output=True, check=True)
    assert opened.stdout == data
    made = subprocess.run(["zstd", "-c", f"--stream-size={len(data)}"], input=data, capture_output=True, check=True)
    assert archive.expand(made.stdout) == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"plain text", "does not begin"),
        (b"\x1f\x8b\x08\x00", "does not begin"),
        (FRAME[:3], "does not begin"),
        (FRAME[:5], "no readable head"),
        (SKIPPABLE + FRAME, "does not begin"),
        (FRAME + SKIPPABLE, "goes on for 12 bytes"),
        (FRAME + FRAME, "goes on"),
        (FRAME + b"\0", "goes on for 1 bytes"),
        (FRAME + b"\0" * 5000, "goes on for 5,000 bytes"),
        (FRAME[:-1], "cut short"),
        (FRAME[:-4], "cut short"),
        (FRAME[: len(FRAME) // 2], "cut short"),
        (head(archive.LIMIT + 1, window=13) + FRAME[8:], "states a size of 67,108,865"),
        (head(2**63, window=13), "states a size"),
        (head(100, window=14) + b"\1\0\0", "window of 16,777,216"),
        (head(100, window=31), "too much memory"),
        (head(20 * MIB), "window of 20,971,520"),
        (head(100, window=13, dictionary=7) + b"\1\0\0", "dictionary"),
        (bomb(1000, 64), "is damaged"),
        (bomb(0, 1), "is damaged"),
        (bomb(200 * 1024, 640), "is damaged"),
        (bomb(64 * MIB, 4000), "more than"),
        (bomb(64 * MIB, 513), "is damaged"),
        (bomb(64 * MIB, 5), "is damaged"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, said: str) -> None:
    with pytest.raises(StorageFailed, match=said) as caught:
        archive.expand(data)
    assert caught.value.hint


def test_a_frame_without_its_size_is_refused() -> None:
    import zstandard

    streamed = zstandard.ZstdCompressor().compressobj()
    with pytest.raises(StorageFailed, match="does not state its size"):
        archive.expand(streamed.compress(LOG) + streamed.flush())


def test_a_bomb_takes_little_memory() -> None:
    """512 MiB out of 16 kB: as soon as more comes than was stated, no more is taken in."""
    data = bomb(archive.LIMIT, 4096)
    tracemalloc.start()
    with pytest.raises(StorageFailed, match="more than"):
        archive.expand(data)
    assert tracemalloc.get_traced_memory()[1] < 128 * MIB
    tracemalloc.stop()


@pytest.mark.parametrize("place", range(0, len(FRAME), max(1, len(FRAME) // 60)))
def test_a_flipped_bit_never_passes(place: int) -> None:
    for bit in (1, 128):
        data = bytearray(FRAME)
        data[place] ^= bit
        try:
            assert archive.expand(bytes(data)) == LOG  # a bit that means nothing, such as one that is reserved
        except StorageFailed as error:
            assert error.hint


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, framed: bool) -> None:
    try:
        archive.expand(archive.MAGIC + data if framed else data)
    except StorageFailed as error:
        assert error.message.startswith("the archive ")
