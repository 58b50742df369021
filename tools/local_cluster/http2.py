"""gRPC as a stranger speaks it: calls over one TLS connection, in plain Python.

It knows as much of HTTP/2 as it takes to send many calls and to count what
they get. RFC 9113 and 7541 have the numbers.
"""

import collections
import socket
import ssl
import struct

_PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GOAWAY, _WINDOW = (
    0, 1, 3, 4, 6, 7, 8)
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_TABLE_SIZE, _FIRST_WINDOW = 1, 4
_WINDOW_BYTES, _READ_BYTES = 65535, 1 << 18
# The server has a bound of 128.
_CALLS_AT_ONCE = 100
_LIMIT_S = 30
# POST, https, and where a path begins: RFC 7541, appendix A.
_POST_HTTPS, _PATH = b'\x83\x87', 4


def context(ca=None, identity=None):
    """TLS settings; `identity` is a folder with cert.pem and key.pem."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED if ca else ssl.CERT_NONE
    if ca:
        made.load_verify_locations(ca)
    made.set_alpn_protocols(['h2'])
    if identity:
        made.load_cert_chain(f'{identity}/cert.pem', f'{identity}/key.pem')
    return made


def _frame(kind, flags, stream, payload):
    return (struct.pack('>I', len(payload))[1:]
            + struct.pack('>BBI', kind, flags, stream) + payload)


def _literal(name, value):
    """A header field that is in no table."""
    return (bytes([0, len(name)]) + name.encode() + bytes([len(value)])
            + value.encode())


def message(content):
    """One message of gRPC, uncompressed."""
    return b'\0' + struct.pack('>I', len(content)) + content


class Connection:
    """Calls to one server.

    `statuses` counts the answers by gRPC's code, None for a call that ended
    without one. `received` are the bytes of all messages that came.
    """

    def __init__(self, address, tls):
        host, port = address.rsplit(':', 1)
        self._socket = tls.wrap_socket(
            socket.create_connection((host, int(port)), timeout=_LIMIT_S),
            server_hostname='skerry')
        self.statuses, self.received = collections.Counter(), b''
        self._rest, self._stream, self._open = b'', -1, set()
        self._windows = collections.defaultdict(lambda: self._first)
        self._first = self._windows[0] = _WINDOW_BYTES
        # With a table, the server would send a status by its number there.
        self._socket.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, struct.pack(
            '>HI', _TABLE_SIZE, 0)) + _frame(_WINDOW, 0, 0, struct.pack(
                '>I', (1 << 30) - 1)))

    def close(self):
        self._socket.close()

    def begin(self, path, metadata=()):
        """Opens a call; returns the number of its stream."""
        while len(self._open) >= _CALLS_AT_ONCE:
            self._read()
        self._stream += 2
        self._open.add(self._stream)
        block = (_POST_HTTPS + bytes([_PATH, len(path)]) + path.encode()
                 + b''.join(_literal(*field) for field in (
                     (':authority', 'skerry'), ('te', 'trailers'),
                     ('content-type', 'application/grpc'),
                     ('grpc-timeout', f'{_LIMIT_S}S'), *metadata)))
        self._socket.sendall(_frame(_HEADERS, _END_HEADERS, self._stream,
                                    block))
        return self._stream

    def send(self, stream, data, last=False):
        """`data` are whole messages; waits until the windows let it go."""
        while self._open_to(stream) and min(
                self._windows[0], self._windows[stream]) < len(data):
            self._read()
        if self._open_to(stream):
            self._windows[0] -= len(data)
            self._windows[stream] -= len(data)
            self._socket.sendall(_frame(_DATA, _END_STREAM if last else 0,
                                        stream, data))

    def call(self, path, content=b''):
        """One call with one message; its answer is counted when it comes."""
        self.send(self.begin(path), message(content), last=True)

    def finish(self, enough=lambda: False):
        """Reads until every call has its answer, or `enough`."""
        while self._open and not enough():
            self._read()

    def _open_to(self, stream):
        return stream in self._open

    def _read(self):
        data = self._socket.recv(_READ_BYTES)
        if not data:
            raise ConnectionError('the server has ended the connection')
        data, at = self._rest + data, 0
        while len(data) - at >= 9:
            length = int.from_bytes(data[at:at + 3], 'big')
            if len(data) - at < 9 + length:
                break
            kind, flags, stream = struct.unpack_from('>BBI', data, at + 3)
            self._take(kind, flags, stream, data[at + 9:at + 9 + length])
            at += 9 + length
        self._rest = data[at:]

    def _take(self, kind, flags, stream, payload):
        if kind == _SETTINGS and not flags & _ACK:
            for key, value in struct.iter_unpack('>HI', payload):
                if key == _FIRST_WINDOW:
                    for known in self._windows:
                        self._windows[known] += (value - self._first
                                                 if known else 0)
                    self._first = value
            self._socket.sendall(_frame(_SETTINGS, _ACK, 0, b''))
        elif kind == _PING and not flags & _ACK:
            self._socket.sendall(_frame(_PING, _ACK, 0, payload))
        elif kind == _WINDOW:
            self._windows[stream] += struct.unpack('>I', payload)[0]
        elif kind == _DATA:
            self.received += payload
            self._socket.sendall(_frame(_WINDOW, 0, stream, struct.pack(
                '>I', len(payload))) if payload else b'')
        elif kind == _GOAWAY:
            raise ConnectionError('the server ends the connection: '
                                  + payload[8:].decode('utf-8', 'replace'))
        elif kind == _RESET or kind == _HEADERS and flags & _END_STREAM:
            if stream in self._open:
                self._open.remove(stream)
                self._windows.pop(stream, None)
                self.statuses[_status(payload) if kind == _HEADERS
                              else None] += 1


def _status(block):
    """grpc-status of trailers, whose names and values are plain text."""
    name = b'grpc-status'
    at = block.find(name)
    if at < 0:
        return None
    at += len(name)
    value = block[at + 1:at + 1 + block[at]]
    return int(value) if value.isdigit() else None
