"""tests/lib/rawzmq.py - libzmq itself, by ctypes, for tests that must send what no program of ours would.

    with Socket(DEALER, identity=b"test-consumer-1.1") as s:
        s.connect("ipc:///tmp/x/run/test-producer/samples.ipc")
        s.send(b"anything")
        s.recv(timeout=1)           # list of parts, None when nothing came
"""
import ctypes
import os

DEALER, SUB = 5, 2                                              # the numbers of zmq.h
IDENTITY, SUBSCRIBE, LINGER, SNDHWM, RCVHWM, RCVTIMEO, SNDTIMEO = 5, 6, 17, 23, 24, 27, 28
SNDMORE = 2

_zmq = ctypes.CDLL("libzmq.so.5", use_errno=True)
for _name in ("zmq_ctx_new", "zmq_socket", "zmq_msg_data"):
    getattr(_zmq, _name).restype = ctypes.c_void_p
_zmq.zmq_msg_size.restype = ctypes.c_size_t
_context = None


class Error(OSError):
    pass


def _check(result):
    if result == -1:
        number = _zmq.zmq_errno()
        raise Error(number, os.strerror(number))
    return result


class Message(ctypes.Structure):
    _fields_ = [("opaque", ctypes.c_uint64 * 8)]


class Socket:
    def __init__(self, kind, identity=None, subscribe=None):
        global _context
        if _context is None:
            _context = ctypes.c_void_p(_zmq.zmq_ctx_new())
        self.handle = ctypes.c_void_p(_zmq.zmq_socket(_context, kind))
        self.option(LINGER, 0)
        self.option(SNDTIMEO, 5000)
        for hwm in (SNDHWM, RCVHWM):
            self.option(hwm, 100000)
        if identity is not None:
            self.option(IDENTITY, identity)
        for topic in subscribe or []:
            self.option(SUBSCRIBE, topic)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def option(self, number, value):
        raw = value if isinstance(value, bytes) else ctypes.string_at(ctypes.byref(ctypes.c_int(value)), 4)
        _check(_zmq.zmq_setsockopt(self.handle, number, raw, ctypes.c_size_t(len(raw))))

    def connect(self, address):
        _check(_zmq.zmq_connect(self.handle, str(address).encode()))

    def bind(self, address):
        _check(_zmq.zmq_bind(self.handle, str(address).encode()))

    def send(self, *parts):
        for i, part in enumerate(parts):
            more = SNDMORE if i + 1 < len(parts) else 0
            _check(_zmq.zmq_send(self.handle, part, ctypes.c_size_t(len(part)), more))

    def recv(self, timeout=60.0):
        """The parts of one message; None when none came in time."""
        self.option(RCVTIMEO, int(timeout * 1000))
        parts, more = [], True
        while more:
            message = Message()
            _zmq.zmq_msg_init(ctypes.byref(message))
            try:
                if _zmq.zmq_msg_recv(ctypes.byref(message), self.handle, 0) == -1:
                    return None
                size, data = (get(ctypes.byref(message)) for get in (_zmq.zmq_msg_size, _zmq.zmq_msg_data))
                parts.append(ctypes.string_at(data, size) if size else b"")
                more = _zmq.zmq_msg_more(ctypes.byref(message)) != 0
            finally:
                _zmq.zmq_msg_close(ctypes.byref(message))
        return parts

    def close(self):
        if self.handle is not None:
            _zmq.zmq_close(self.handle)
        self.handle = None
