"""Holds packets of this network namespace back, and loses some of them.

The kernel's netem does the same, but not every kernel has it. A rule of
iptables gives the packets to a queue of netfilter, and this program says when
each may go on. Packets between two sites keep their order. It ends when its
standard input does, after the last packet has gone on, and prints its counts.
"""

import heapq
import json
import os
import random
import select
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from local_cluster import flags  # noqa: E402

# linux/netfilter/nfnetlink_queue.h
_NETLINK_NETFILTER, _SUBSYSTEM = 12, 3
_PACKET, _VERDICT, _CONFIG = 0, 1, 2
_SO_RCVBUFFORCE = 33
_CONFIG_COMMAND, _CONFIG_PARAMETERS, _CONFIG_LENGTH = 1, 2, 3
_BIND, _COPY_META = 1, 1
_PACKET_HEADER, _FROM_DEVICE, _TO_DEVICE, _VERDICT_HEADER = 1, 5, 6, 2
_DROP, _ACCEPT = 0, 1
_REQUEST, _REQUEST_AND_ACK = 1, 5
_QUEUE = 0
_PACKETS_MAX, _BUFFER_BYTES = 1 << 16, 8 << 20
_RULE = ('FORWARD', '-j', 'NFQUEUE', '--queue-num', str(_QUEUE))
# What iptables gets to have the packets of a namespace queued, and not.
TURN_ON = ('iptables', '-w', '-t', 'mangle', '-A', *_RULE)
TURN_OFF = ('iptables', '-w', '-t', 'mangle', '-D', *_RULE)


def _attribute(kind, data):
    return (struct.pack('=HH', len(data) + 4, kind) + data
            + bytes(-len(data) % 4))


def _message(kind, attributes, flags):
    return struct.pack('=IHHIIBBH', 20 + len(attributes),
                       _SUBSYSTEM << 8 | kind, flags, 0, 0, 0, 0,
                       socket.htons(_QUEUE)) + attributes


class _Queue:
    """The kernel's queue of packets that wait for a verdict."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                    _NETLINK_NETFILTER)
        self.socket.bind((0, 0))
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE,
                                   _BUFFER_BYTES)
        except PermissionError:  # root of a user's own namespace
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                   _BUFFER_BYTES)
        for kind, data in (
                (_CONFIG_COMMAND, struct.pack('>BBH', _BIND, 0, 0)),
                (_CONFIG_PARAMETERS, struct.pack('>IB', 0, _COPY_META)),
                (_CONFIG_LENGTH, struct.pack('>I', _PACKETS_MAX))):
            self.socket.send(_message(_CONFIG, _attribute(kind, data),
                                      _REQUEST_AND_ACK))
            error = struct.unpack_from('=i', self.socket.recv(4096), 16)[0]
            if error:
                raise OSError(-error, 'the kernel queues no packets')
        self.socket.setblocking(False)

    def packets(self):
        """(number, the two devices between which it passes) of each new one."""
        while True:
            try:
                data = self.socket.recv(1 << 16)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                length, kind = struct.unpack_from('=IH', data, at)
                if kind == _SUBSYSTEM << 8 | _PACKET:
                    yield self._packet(data, at + 20, at + length)
                at += length + 3 & ~3

    @staticmethod
    def _packet(data, at, end):
        found = {}
        while at < end:
            length, kind = struct.unpack_from('=HH', data, at)
            found[kind] = data[at + 4:at + 8]
            at += length + 3 & ~3
        return (struct.unpack('>I', found[_PACKET_HEADER])[0],
                (found.get(_FROM_DEVICE), found.get(_TO_DEVICE)))

    def decide(self, verdicts):
        """`verdicts` are (number, whether it goes on)."""
        for number, goes_on in verdicts:
            self.socket.send(_message(_VERDICT, _attribute(
                _VERDICT_HEADER, struct.pack(
                    '>II', _ACCEPT if goes_on else _DROP, number)), _REQUEST))


def _hold(queue, args):
    """Until standard input ends; then until no packet is left."""
    drawn = random.Random(args.seed)
    waiting, last, counts = [], {}, {'packets': 0, 'lost': 0}
    ends = False
    while waiting or not ends:
        pause_s = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        watched = [queue.socket] if ends else [queue.socket, sys.stdin]
        ready = select.select(watched, [], [], pause_s)[0]
        ends = ends or sys.stdin in ready
        now = time.monotonic()
        for number, way in queue.packets():
            counts['packets'] += 1
            due = now + max(0, drawn.uniform(
                args.delay_ms - args.jitter_ms,
                args.delay_ms + args.jitter_ms)) / 1000
            last[way] = due = max(due, last.get(way, 0))
            heapq.heappush(waiting, (due, counts['packets'], number))
        verdicts = []
        while waiting and waiting[0][0] <= now:
            goes_on = drawn.random() >= args.loss
            counts['lost'] += not goes_on
            verdicts.append((heapq.heappop(waiting)[2], goes_on))
        queue.decide(verdicts)
    return counts


def main():
    parser = flags.Parser(prog='packet_delay', description=__doc__)
    for name in ('--delay-ms', '--jitter-ms', '--loss'):
        parser.add_argument(name, type=flags.real(0, 1e6),
                            required=True)
    parser.add_argument('--seed', type=flags.whole(), required=True)
    args = parser.parse_args()
    try:
        queue = _Queue()
    except OSError as error:
        print(json.dumps({'error': str(error)}), flush=True)
        return 1
    print(json.dumps({'ready': True}), flush=True)
    print(json.dumps(_hold(queue, args)), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
