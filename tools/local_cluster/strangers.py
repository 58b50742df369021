"""Strangers at the ports of a coordinator and a worker, many and in a hurry.

Reads one JSON object from standard input: the two addresses, the identities
that were stolen, made up or revoked, and how much each kind of stranger sends.
All kinds come at the same time, each spread evenly over some seconds. Prints
one JSON object at the end: what each kind sent and got, and the processor time
of all of them.
"""

import collections
import concurrent.futures
import ctypes
import ctypes.util
import json
import random
import resource
import socket
import ssl
import struct
import sys
import time

from local_cluster import http2

_LIMIT_S = 30
# docs/formats/frame.md
_HEADER = struct.Struct('<4sBBBBQQQQQQQIIII')
_CONTRIBUTION = 1
# docs/formats/bulk.md
_ANSWER = struct.Struct('<QB7x')
_ANSWERS = {1: 'accepted', 2: 'refused', 3: 'not yet', 4: 'corrupt', 5: 'held'}
_FRAMES_AT_ONCE, _CALLS_AT_ONCE = 100, 50
_CONNECTIONS_AT_ONCE = 16


def _hash(data):
    library = ctypes.CDLL(ctypes.util.find_library('xxhash'))
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    return library.XXH3_64bits(data, len(data))


def _connect(address):
    host, port = address.rsplit(':', 1)
    return socket.create_connection((host, int(port)), timeout=_LIMIT_S)


class _Spread:
    """Spreads `count` things evenly over `lasting_s`."""

    def __init__(self, count, lasting_s):
        self._began, self._each_s = time.monotonic(), lasting_s / max(count, 1)

    def wait(self, number):
        """Until it is time for the thing of this number."""
        time.sleep(max(0, self._began + number * self._each_s
                       - time.monotonic()))


def _many(count, lasting_s, one):
    """one(number) for each of `count`, some at a time. How many were true."""
    spread = _Spread(count, lasting_s)

    def in_time(number):
        spread.wait(number)
        return one(number)
    with concurrent.futures.ThreadPoolExecutor(_CONNECTIONS_AT_ONCE) as pool:
        return sum(pool.map(in_time, range(count)))


def _sent_and_closed(address, lasting_s, said):
    """Connections that send one text each and no more. How many were closed."""
    def one(number):
        with _connect(address) as connection:
            try:
                connection.sendall(said[number])
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
            except ConnectionError:
                pass
        return True
    return {'sent': len(said), 'closed': _many(len(said), lasting_s, one)}


def _client_hello():
    """The first bytes that a TLS client sends."""
    out = ssl.MemoryBIO()
    client = http2.context().wrap_bio(ssl.MemoryBIO(), out,
                                      server_hostname='skerry')
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
    raise AssertionError('a handshake without an answer')


def half(address, count):
    """Handshakes that stop in the middle, and are open at the same time."""
    hello = _client_hello()
    made = []
    for _ in range(count):
        made.append(_connect(address))
        made[-1].sendall(hello[:len(hello) // 2])
    return made


def _foreign(address, lasting_s, count, identity):
    """Handshakes with the certificate of another CA. How many were refused."""
    tls = http2.context(identity=identity)

    def one(_):
        try:
            # In TLS 1.3 the client is done before the server has looked.
            connection = http2.Connection(address, tls)
            connection.call('/grpc.health.v1.Health/Check')
            connection.finish()
            connection.close()
        except (ssl.SSLError, ConnectionError):
            return True
        return False
    return {'sent': count, 'refused': _many(count, lasting_s, one)}


def _calls(address, lasting_s, count, methods, tls, content=b''):
    """Calls of the methods in turn. What they got, by gRPC's code."""
    connection = http2.Connection(address, tls)
    spread = _Spread(count, lasting_s)
    for at in range(count):
        if at % _CALLS_AT_ONCE == 0:
            spread.wait(at)
        connection.call(methods[at % len(methods)], content)
    connection.finish()
    connection.close()
    return {'sent': count, 'received': len(connection.received),
            'statuses': {str(code): times for code, times
                         in connection.statuses.items()}}


def _frame(plan):
    """A good frame of a replica that is not the sender's."""
    head = _HEADER.pack(b'SKRF', 1, _CONTRIBUTION, 0, 0, plan['job'], 1, 1,
                        plan['replica'], 4096, 0, _hash(b''), 0, 0, 0, 1)
    return head + struct.pack('<Q', _hash(head))


def _frames(plan, count):
    """Frames of another's replica on one stream. What they got."""
    connection = http2.Connection(plan['worker'], http2.context(
        identity=plan['member']['identity']))
    stream = connection.begin('/skerry.v1.Bulk/Frames', (
        ('skerry-bulk-version', '1'),
        ('skerry-from', plan['member']['name'])))
    frame = http2.message(_frame(plan))
    spread = _Spread(count, plan['lasting_s'])
    for at in range(0, count, _FRAMES_AT_ONCE):
        spread.wait(at)
        connection.send(stream, frame * min(_FRAMES_AT_ONCE, count - at))
    seen, answers = 0, collections.Counter()

    def all_answered():
        nonlocal seen
        while len(connection.received) >= seen + 5:
            size = struct.unpack_from('>I', connection.received, seen + 1)[0]
            if len(connection.received) < seen + 5 + size:
                break
            whole = connection.received[seen + 5:seen + 5 + size]
            answers.update(_ANSWERS[code] for _, code
                           in _ANSWER.iter_unpack(whole))
            seen += 5 + size
        return sum(answers.values()) >= count
    connection.finish(all_answered)
    connection.close()
    return {'sent': count, **answers, 'statuses': dict(connection.statuses)}


def _field(number, value):
    """A field of a protobuf message, of at most 16 KiB."""
    size = len(value)
    length = (bytes([size]) if size < 128
              else bytes([size & 127 | 128, size >> 7]))
    return bytes([number << 3 | 2]) + length + value


def _join(draw, request):
    """A JoinRequest with a token that nobody has made."""
    letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
    token = (''.join(draw.choices(letters, k=6)) + '.'
             + ''.join(draw.choices(letters, k=16)))
    return (_field(1, token.encode()) + _field(2, request)
            + _field(3, b'guest0') + _field(4, b'guest'))


def _kinds(plan, draw):
    """{name: how to be that stranger}"""
    port, counts, lasting_s = (plan['coordinator'], plan['counts'],
                               plan['lasting_s'])
    # SSL 2, which is closed without a word, begins with a larger byte.
    noise = [bytes([draw.randint(0, 127)])
             + draw.randbytes(draw.randint(16, 512))
             for _ in range(counts['noise'])]
    join = _join(draw, bytes.fromhex(plan['request']))
    found = {
        'bytes that are no TLS': lambda: _sent_and_closed(
            port, lasting_s, noise),
        'HTTP/1 requests': lambda: _sent_and_closed(
            plan['worker'], lasting_s, [
                b'GET /metrics HTTP/1.1\r\nHost: skerry\r\n\r\n']
            * counts['http']),
        'certificates of another CA': lambda: _foreign(
            port, lasting_s, counts['foreign'], plan['foreign']),
        'joins with wrong tokens': lambda: _calls(
            port, lasting_s, counts['joins'], ['/skerry.v1.Join/Join'],
            http2.context(), join),
        'frames of another replica': lambda: _frames(plan, counts['frames']),
        'health': lambda: _calls(
            port, 0, 1, ['/grpc.health.v1.Health/Check'], http2.context())}
    for name, caller in plan['callers'].items():
        found[name] = lambda caller=caller: _calls(
            port, lasting_s, counts['calls'], caller['methods'],
            http2.context(identity=caller['identity']))
    return found


def main():
    plan = json.load(sys.stdin)
    kinds = _kinds(plan, random.Random(plan['seed']))
    stopped = half(plan['coordinator'], plan['counts']['half'])
    with concurrent.futures.ThreadPoolExecutor(len(kinds)) as pool:
        running = {name: pool.submit(run) for name, run in kinds.items()}
        found = {name: one.result() for name, one in running.items()}
    for one in stopped:
        one.close()
    found['handshakes that stop'] = {'sent': len(stopped)}
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({'kinds': found, 'cpu_s': used.ru_utime + used.ru_stime}))


if __name__ == '__main__':
    main()
