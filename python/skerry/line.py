"""Speaks the lines of skerry-attach, version 1 (docs/formats/attach.md).

A call comes as one JSON object a line and is answered by one. This module knows
bytes and JSON, not tensors. Whatever skerry-attach should not have sent raises
BrokenLine; a call that cannot be carried out raises Refused.
"""

import collections
import json
import math
import mmap
import struct

VERSION = 1
LINE_BYTES_MAX = 32 << 20
PAGE_BYTES = 4096
_UINT64_MAX = (1 << 64) - 1
_READ_BYTES = 1 << 16

Call = collections.namedtuple('Call', 'name id body')


class BrokenLine(Exception):
    """A line is no call of this protocol. The rank has to end."""


class Refused(Exception):
    """A call cannot be carried out, and nothing was changed.

    `code` is the name of a gRPC status code.
    """

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def encode(message):
    """One line, in bytes. Raises ValueError when it is over LINE_BYTES_MAX, or
    for a float that is not finite: proto3 has text for those (`number`)."""
    line = json.dumps(message, separators=(',', ':'), allow_nan=False,
                      ensure_ascii=False).encode('utf-8', 'replace') + b'\n'
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f'a line of {len(line)} bytes; at most '
                         f'{LINE_BYTES_MAX} are allowed')
    return line


def decode_call(line):
    """The Call of one line, given without its line feed."""
    try:
        message = json.loads(line.decode('utf-8'))
    except (ValueError, RecursionError) as error:
        raise BrokenLine(f'a line is no JSON object: {error}') from error
    if not isinstance(message, dict):
        raise BrokenLine('a line is no JSON object')
    name, number = message.get('call'), message.get('id')
    body = message.get('body', {})
    if not isinstance(name, str):
        raise BrokenLine('a line has no `call`')
    if (not isinstance(number, int) or isinstance(number, bool)
            or not 0 < number <= _UINT64_MAX):
        raise BrokenLine(f'{name}: `id` is no number above 0')
    if not isinstance(body, dict):
        raise BrokenLine(f'{name}: `body` is no object')
    return Call(name, number, body)


def whole(body, name):
    """The 64-bit whole number `name` of a body, 0 when it is missing. proto3
    writes it as text, and may be given a JSON number."""
    value = body.get(name, 0)
    good = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value, good = int(value[:21]), True
    if not good or not 0 <= value <= _UINT64_MAX:
        raise Refused('INVALID_ARGUMENT',
                      f'{name}: {value!r:.40} is no whole number')
    return value


def ranges(body, name):
    """The list `name` of ranges as [(begin, end)], empty ones left out."""
    found = []
    listed = body.get(name, [])
    if not isinstance(listed, list):
        raise Refused('INVALID_ARGUMENT', f'{name}: this is no list')
    for one in listed:
        if not isinstance(one, dict):
            raise Refused('INVALID_ARGUMENT', f'{name}: a range is no object')
        begin, end = whole(one, 'begin'), whole(one, 'end')
        if begin > end:
            raise Refused('INVALID_ARGUMENT',
                          f'{name}: the range [{begin}, {end}) is backwards')
        if begin < end:
            found.append((begin, end))
    return found


def number(value):
    """A float as proto3's JSON has it."""
    value = float(value)
    if math.isnan(value):
        return 'NaN'
    if math.isinf(value):
        return 'Infinity' if value > 0 else '-Infinity'
    return value


class Connection:
    """The rank's end of the socket. One thread uses it."""

    def __init__(self, socket):
        self._socket = socket
        self._bytes = bytearray()
        # How much of _bytes holds no line feed.
        self._searched = 0

    def next_call(self):
        """Waits for the next call. None: skerry-attach has closed the socket,
        or has ended."""
        while True:
            end = self._bytes.find(b'\n', self._searched)
            if end >= 0:
                line = bytes(self._bytes[:end])
                del self._bytes[:end + 1]
                self._searched = 0
                return decode_call(line)
            self._searched = len(self._bytes)
            if self._searched >= LINE_BYTES_MAX:
                raise BrokenLine(f'a line is over {LINE_BYTES_MAX} bytes')
            try:
                read = self._socket.recv(_READ_BYTES)
            except ConnectionError:
                return None
            if not read:
                return None
            self._bytes += read

    def hello(self, package):
        self._send({'hello': VERSION, 'package': package})

    def answer(self, call, body):
        self._send({'id': call.id, 'body': body})

    def refuse(self, call, code, error):
        self._send({'id': call.id, 'code': code, 'error': error})

    def note(self, kind, **members):
        self._send({'note': kind, **members})

    def _send(self, message):
        try:
            self._socket.sendall(encode(message))
        except ConnectionError:
            pass  # The next read says that nobody is there.


class ControlPage:
    """Says when the call in progress has to stop.

    With several ranks all of them stop after the same step: rank 0 names it,
    and no other rank can have passed it, because the step's collective needs
    rank 0.
    """

    _STOP, _AGREED, _STEP = 0, 8, 16

    def __init__(self, descriptor, rank, world):
        self._page = mmap.mmap(descriptor, PAGE_BYTES)
        self._rank, self._world = rank, world
        self._call = 0

    def begin(self, call):
        """From now on `call` is in progress."""
        self._call = call.id

    def stop_wanted(self):
        """Whether skerry-attach wants the call to stop."""
        return self._word(self._STOP) == self._call

    def stops(self, steps):
        """Whether the call ends now, `steps` steps of it being finished."""
        if self._world == 1:
            return self.stop_wanted()
        if (self._rank == 0 and self.stop_wanted()
                and self._word(self._AGREED) != self._call):
            # The step stands there before the id that makes it valid.
            self._write(self._STEP, steps + 1)
            self._write(self._AGREED, self._call)
        return (self._word(self._AGREED) == self._call
                and steps >= self._word(self._STEP))

    def _word(self, at):
        return struct.unpack_from('=Q', self._page, at)[0]

    def _write(self, at, value):
        struct.pack_into('=Q', self._page, at, value)
