"""Record files: each record has its length and checksums. Event files have this form."""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Iterator, List, Optional

from millstream.framework import errors


def _table() -> List[int]:
    out = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        out.append(crc)
    return out


_TABLE = _table()


def _checksum(data: bytes) -> int:
    """Returns the CRC-32C, masked as in these files, because CRCs of data that contain CRCs are weak."""
    crc = 0xFFFFFFFF
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def write_record(out: Any, data: bytes) -> None:
    """Appends a record."""
    length = struct.pack("<Q", len(data))
    out.write(length + struct.pack("<I", _checksum(length)) + data + struct.pack("<I", _checksum(data)))


def read_records(path: str) -> Iterator[bytes]:
    """Yields the records of a file. Raises `DataLossError` for a damaged or truncated one."""
    with open(path, "rb") as source:
        yield from records_of(source, path)


def records_of(source: BinaryIO, path: str) -> Iterator[bytes]:
    """Yields the records of an open file; `path` is for messages. A damaged one raises `DataLossError`."""
    while True:
        data = _read_record(source, path)
        if data is None:
            return
        yield data


# The most that is read in one go.
_CHUNK = 1 << 20


def _read(source: BinaryIO, n: int) -> bytes:
    """Returns the next `n` bytes, or fewer at the end. Takes memory for what is there, whatever `n` is."""
    if n <= _CHUNK:
        return source.read(n)
    chunks = []
    while 0 < n:
        chunk = source.read(min(n, _CHUNK))
        if not chunk:
            break
        chunks.append(chunk)
        n -= len(chunk)
    return b"".join(chunks)


def _read_record(source: BinaryIO, path: str) -> Optional[bytes]:
    place = source.tell()

    def damaged(what: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{what} record at {place} of {path}")

    header = source.read(12)
    if not header:
        return None
    if len(header) < 12:
        raise damaged("truncated")
    length, crc = struct.unpack("<QI", header)
    if crc != _checksum(header[:8]):
        raise damaged("corrupted")
    body = _read(source, length + 4)
    if len(body) < length + 4:
        raise damaged("truncated")
    data = body[:-4]
    if struct.unpack("<I", body[-4:])[0] != _checksum(data):
        raise damaged("corrupted")
    return data
