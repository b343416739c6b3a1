"""tests/lib/kubefaults_proxy.py - a proxy on loopback: tunnels, or passes requests on and keeps their heads.

    with Proxy() as proxy:
        ... http_proxy=proxy.url ...
        proxy.heads                         # of what passed: request lines with headers, as text
        proxy.refusal = 502                 # from now on every request is refused
        proxy.flood("/nodes?", 1 << 30)     # into the answer to that request

One thread per direction of a connection; blocking, which is enough for a test.
"""
import contextlib
import re
import socket
import threading
import urllib.parse

HEAD_MAX = 64 * 1024
PIECE = 64 * 1024


class Proxy:
    """to: whatever is asked for, it leads to this URL. names: HOST:PORT -> HOST:PORT, a DNS for tunnels."""

    def __init__(self, to=None, names=None):
        self.heads, self.refusal, self.to, self.names = [], None, to, names or {}
        self.answering = {}         # the last head of a connection -> the connection
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:{}".format(self.listener.getsockname()[1])
        self.open = set()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        self.disconnect()

    def disconnect(self):
        """Breaks every connection."""
        with self.lock:
            connections, self.open = self.open, set()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def lines(self):
        """The request lines that passed."""
        return [head.split("\r\n")[0] for head in self.heads]

    def flood(self, target, size):
        """One chunk without a line break. Returns how much was read before the client closed."""
        client = next(client for head, client in reversed(self.answering.items())
                      if target in head.split("\r\n")[0])
        client.sendall(f"{size:x}\r\n".encode())
        taken = 0
        with contextlib.suppress(OSError):
            while taken < size:
                client.sendall(b"x" * PIECE)
                taken += PIECE
        return taken

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def keep(self, connection):
        with self.lock:
            self.open.add(connection)

    def serve(self, client):
        """A client's connection is for one server: ours asks no other."""
        server = None
        self.keep(client)
        with client, contextlib.suppress(OSError):
            while data := self.read_head(client):
                head, rest = data
                self.heads.append(head)
                if self.refusal is not None:
                    text = "no way through\n"
                    client.sendall(f"HTTP/1.1 {self.refusal} Refused\r\nContent-Length: {len(text)}\r\n"
                                   f"Content-Type: text/plain\r\nConnection: close\r\n\r\n{text}".encode())
                    break
                method, target, _ = head.split("\r\n")[0].split(" ")
                if server is None:
                    server = self.connect(method, target)
                    threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    self.pump(client, server)
                    break
                self.answering[head] = client
                self.pass_on(client, server, head, rest)
        if server is not None:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def connect(self, method, target):
        tunnel = f"//{self.names.get(target, target)}"
        place = urllib.parse.urlsplit(self.to or (tunnel if method == "CONNECT" else target))
        server = socket.create_connection((place.hostname, place.port or 80))
        self.keep(server)
        return server

    @staticmethod
    def read_head(client):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(PIECE)
            if not piece or len(data) > HEAD_MAX:
                return None
            data += piece
        head, _, rest = data.partition(b"\r\n\r\n")
        return head.decode("latin-1"), rest

    @staticmethod
    def pass_on(client, server, head, rest):
        """A request with an absolute target becomes one with a path; its body has a length, or none."""
        first, *lines = head.split("\r\n")
        method, target, version = first.split(" ")
        path = re.sub(r"^https?://[^/]*", "", target) or "/"
        lines = [line for line in lines if not line.lower().startswith("proxy-")]
        server.sendall("\r\n".join([f"{method} {path} {version}", *lines, "", ""]).encode("latin-1"))
        found = re.search(r"^content-length: *(\d+)", head, re.I | re.M)
        left = int(found[1]) - len(rest) if found else 0
        server.sendall(rest)
        while left > 0:
            piece = client.recv(min(left, PIECE))
            if not piece:
                break
            left -= len(piece)
            server.sendall(piece)

    @staticmethod
    def pump(source, sink):
        """Until one side ends; then so does the other."""
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                sink.sendall(piece)
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
