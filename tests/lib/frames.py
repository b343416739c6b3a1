"""tests/lib/frames.py - frames of the bus (proto/envelope.h), with just enough msgpack for them.

    frame(HELLO, ["test-consumer-1", 1, b"token", 0, 1024, 7])
    envelope, bodies = unpack_frame(data)
"""
import struct

HELLO, SNAP_BEGIN, SNAP_ITEMS, SNAP_END, DELTA, ACK, BEAT, CLOSE, TAP = range(1, 10)
ITEM_KEY, ITEM_TRACE, ITEM_GONE = 0, 4, 5       # fields of an item


def pack(value):
    if value is None:
        return b"\xc0"
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if value < 0:
            return struct.pack(">bq", -0x2d, value)      # 0xd3
        return bytes([value]) if value < 128 else struct.pack(">BQ", 0xcf, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xcb, value)
    if isinstance(value, str):
        raw = value.encode()
        return struct.pack(">BI", 0xdb, len(raw)) + raw
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xc6, len(value)) + value
    return struct.pack(">BI", 0xdd, len(value)) + b"".join(map(pack, value))


def frame(number, *bodies, epoch=0, seq=0, trace=0):
    return pack([number, epoch, seq, trace]) + b"".join(map(pack, bodies))


_SIZED = {0xc4: ("B", bytes), 0xc5: (">H", bytes), 0xc6: (">I", bytes),
          0xd9: ("B", str), 0xda: (">H", str), 0xdb: (">I", str)}
_PLAIN = {0xca: ">f", 0xcb: ">d", 0xcc: "B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q",
          0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
_ARRAY = {0xdc: ">H", 0xdd: ">I"}


def _number(form, data, at):
    return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)


def unpack(data, at=0):
    """The value at that offset, and the offset after it."""
    head = data[at]
    at += 1
    if head <= 0x7f or head >= 0xe0:
        return (head if head <= 0x7f else head - 256), at
    if head in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[head], at
    if head in _PLAIN:
        return _number(_PLAIN[head], data, at)
    if 0xa0 <= head <= 0xbf:
        return data[at:at + head - 0xa0].decode(), at + head - 0xa0
    if head in _SIZED:
        form, kind = _SIZED[head]
        size, at = _number(form, data, at)
        raw = data[at:at + size]
        return (raw.decode() if kind is str else raw), at + size
    count = head - 0x90
    if head in _ARRAY:
        count, at = _number(_ARRAY[head], data, at)
    elif not 0x90 <= head <= 0x9f:
        raise ValueError(f"msgpack head {head:#x}")
    items = []
    for _ in range(count):
        item, at = unpack(data, at)
        items.append(item)
    return items, at


def unpack_frame(data):
    """([number, epoch, seq, trace], [body, ...])"""
    values, at = [], 0
    while at < len(data):
        value, at = unpack(data, at)
        values.append(value)
    return values[0], values[1:]
