"""Frames of SPDY/3.1, as far as Kubernetes streams over them to a node.

The server's side alone, without flow control, which no client of Kubernetes
asks for. https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/
"""

import select
import struct
import threading
import zlib

_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _PING, _GOAWAY = 1, 2, 3, 6, 7
_CONTROL = 0x80030000  # a control frame of version 3
_FIN = 1
_ID = 0x7fffffff
_READ_BYTES = 1 << 16
# With these names and words the compression of headers begins (2.6.10.1).
_NAMES = (
    'options head post put delete trace accept accept-charset accept-encoding '
    'accept-language accept-ranges age allow authorization cache-control '
    'connection content-base content-encoding content-language content-length '
    'content-location content-md5 content-range content-type date etag expect '
    'expires from host if-match if-modified-since if-none-match if-range '
    'if-unmodified-since last-modified location max-forwards pragma '
    'proxy-authenticate proxy-authorization range referer retry-after server '
    'te trailer transfer-encoding upgrade user-agent vary via warning '
    'www-authenticate method get status').split() + [
        '200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie',
        'keep-alive', 'origin']
_WORDS = (
    '1001012012022052063003023033043053063074024054064074084094104114124134144'
    '15416417502504505203 Non-Authoritative Information204 No Content301 Moved '
    'Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 '
    'Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar'
    ' Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, '
    'Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/'
    'xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age='
    'gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.')
DICTIONARY = b''.join(struct.pack('>I', len(name)) + name.encode()
                      for name in _NAMES) + _WORDS.encode()


class Ended(Exception):
    """The other side has closed the connection."""


class Connection:
    """A connection whose upgrade to SPDY is done.

    tls: its socket. begun: what was read from it already.
    """

    def __init__(self, tls, begun=b''):
        self._tls, self._bytes = tls, begun
        # One thread at a time may use the state of TLS.
        self._lock = threading.Lock()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def events(self):
        """Yields ('open', stream, headers), ('data', stream, bytes),
        ('end', stream, None) and ('reset', stream, None), until the other side
        closes the connection."""
        while True:
            try:
                head, flags, content = self._frame()
            except (Ended, OSError):
                return
            if not head & 0x80000000:
                if content:
                    yield 'data', head, content
                if flags & _FIN:
                    yield 'end', head, None
                continue
            kind = head & 0xffff
            if kind == _SYN_STREAM:
                stream = struct.unpack_from('>I', content)[0] & _ID
                yield 'open', stream, self._headers(content[10:])
                if flags & _FIN:
                    yield 'end', stream, None
            elif kind == _RST_STREAM:
                yield 'reset', struct.unpack_from('>I', content)[0] & _ID, None
            elif kind == _PING:
                self._send(_CONTROL | _PING, 0, content)
            elif kind == _GOAWAY:
                return

    def accept(self, stream):
        """Answers that the stream is there."""
        block = self._deflate.compress(struct.pack('>I', 0))
        block += self._deflate.flush(zlib.Z_SYNC_FLUSH)
        self._send(_CONTROL | _SYN_REPLY, 0, struct.pack('>I', stream) + block)

    def send(self, stream, data, last=False):
        """Sends bytes on a stream, and ends our side of it after the last."""
        self._send(stream, _FIN if last else 0, data)

    def close(self):
        self._tls.close()

    def _send(self, head, flags, content):
        with self._lock:
            self._tls.sendall(struct.pack('>II', head, flags << 24
                                          | len(content)) + content)

    def _frame(self):
        head, rest = struct.unpack('>II', self._read(8))
        return head, rest >> 24, self._read(rest & 0xffffff)

    def _read(self, count):
        while len(self._bytes) < count:
            if not self._tls.pending():
                select.select([self._tls], [], [])
            with self._lock:
                read = self._tls.recv(_READ_BYTES)
            if not read:
                raise Ended
            self._bytes += read
        found, self._bytes = self._bytes[:count], self._bytes[count:]
        return found

    def _headers(self, block):
        """{name: value} of a compressed block."""
        plain = self._inflate.decompress(block)
        count, = struct.unpack_from('>I', plain)
        words, at = [], 4
        for _ in range(2 * count):
            size, = struct.unpack_from('>I', plain, at)
            words.append(plain[at + 4:at + 4 + size].decode())
            at += 4 + size
        return dict(zip(words[::2], words[1::2]))
