"""Stands in for skerry-attach: starts a program once for each rank, and speaks
the lines of docs/formats/attach.md to it."""

import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAMS = os.path.join(ROOT, 'tests', 'attach', 'programs')
# Far longer than anything takes; a test that waits so long has failed.
PATIENCE_S = 400.0
_PAGE_BYTES = 4096
_FP32_BYTES = 4


class Ended(Exception):
    """A rank has closed its socket."""


class Rank:
    """One process of a program."""

    def __init__(self, process, end):
        self.process = process
        self._end = end
        end.settimeout(PATIENCE_S)
        self._bytes = b''
        self.notes = []

    def send(self, line):
        self._end.sendall(line)

    def line(self):
        """The next line, as an object."""
        while b'\n' not in self._bytes:
            read = self._end.recv(1 << 16)
            if not read:
                raise Ended
            self._bytes += read
        line, self._bytes = self._bytes.split(b'\n', 1)
        return json.loads(line)

    def answer(self):
        """The next line that is no note."""
        while 'note' in (line := self.line()):
            self.notes.append(line)
        return line

    def close(self):
        self._end.close()


class StandIn:
    """A program that runs, with its ranks.

    program: its path, or the name of a file in `programs`.
    job: members of SKERRY_JOB that differ from the usual.
    """

    def __init__(self, program, ranks=1, log=None, **job):
        self.job = {'name': 'test', 'parameters': {}, 'seed': 1,
                    'data_seed': 1, 'data_id': 'test', 'data_samples': 0,
                    'samples': 1024, 'batch_samples': 8, 'tau': 4, **job}
        self._page = os.memfd_create('page')
        os.ftruncate(self._page, _PAGE_BYTES)
        self.page = mmap.mmap(self._page, _PAGE_BYTES)
        self.memory = None
        self._memory = None
        self._calls = 0
        port = _free_port()
        self.ranks = [self._start(os.path.join(PROGRAMS, program), rank, ranks,
                                  port, log) for rank in range(ranks)]
        self.hellos = []

    def _start(self, program, rank, ranks, port, log):
        mine, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, program], process_group=0,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[theirs.fileno(), self._page],
                env={**os.environ, 'SKERRY_PROTOCOL': '1',
                     'SKERRY_FD': str(theirs.fileno()),
                     'SKERRY_CONTROL_FD': str(self._page),
                     'SKERRY_JOB': json.dumps(self.job),
                     'RANK': str(rank), 'LOCAL_RANK': str(rank),
                     'WORLD_SIZE': str(ranks), 'LOCAL_WORLD_SIZE': str(ranks),
                     'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(port),
                     'OMP_NUM_THREADS': '1', 'PYTHONDONTWRITEBYTECODE':
                     '' if 'PYTHONPYCACHEPREFIX' in os.environ else '1',
                     'PYTHONPATH': ':'.join(
                         [os.path.join(ROOT, 'python')]
                         + os.environ.get('PYTHONPATH', '').split(':'))})
        return Rank(process, mine)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rank in self.ranks:
            rank.close()
            try:
                os.killpg(rank.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            rank.process.wait(PATIENCE_S)

    def hello(self):
        """Waits for the first line of each rank."""
        self.hellos = [rank.line() for rank in self.ranks]

    def send(self, name, **body):
        """Sends a call to all ranks. Returns its id."""
        self._calls += 1
        line = json.dumps({'call': name, 'id': self._calls, 'body': body})
        for rank in self.ranks:
            rank.send(line.encode() + b'\n')
        return self._calls

    def answers(self):
        """The answer of each rank."""
        found = [rank.answer() for rank in self.ranks]
        for one in found:
            assert one.get('id') in (self._calls, None), one
        return found

    def call(self, name, **body):
        """Sends a call, and returns the bodies of the answers."""
        self.send(name, **body)
        found = self.answers()
        for one in found:
            assert 'body' in one, f'{name}: {one}'
        return [one['body'] for one in found]

    def describe(self):
        """Gives the program its memory. Returns the answer of rank 0."""
        self.hello()
        sized = self.call('Describe')[0]
        elements = int(sized['elementCount'])
        self._memory = os.memfd_create('memory')
        os.ftruncate(self._memory, elements * _FP32_BYTES)
        self.memory = memoryview(mmap.mmap(
            self._memory, elements * _FP32_BYTES)).cast('f')
        again = self.call(
            'Describe', sharedMemory=f'/proc/{os.getpid()}/fd/{self._memory}')
        assert [one['tensors'] for one in again] == (
            [sized['tensors']] * len(again))
        return again[0]

    def everything(self):
        return [{'begin': '0', 'end': str(len(self.memory))}]

    def snapshot(self):
        """The values of the program, as a list."""
        self.call('Snapshot', ranges=self.everything())
        return list(self.memory)

    def load(self, values):
        for at, value in enumerate(values):
            self.memory[at] = value
        self.call('Load', ranges=self.everything())

    def send_run(self, begin, end, upcoming=None):
        return self.send(
            'Run', ranges=[{'begin': str(begin), 'end': str(end)}],
            replicaBatchSamples=str(self.job['batch_samples']),
            upcoming=[{'begin': str(upcoming[0]), 'end': str(upcoming[1])}]
            if upcoming else [])

    def run(self, begin, end, upcoming=None):
        self.send_run(begin, end, upcoming)
        found = self.answers()
        for one in found:
            assert 'body' in one, one
        return [one['body'] for one in found]

    def stop(self, call):
        """Wants `call` to stop."""
        struct.pack_into('=Q', self.page, 0, call)

    def leave(self):
        """Ends the job; the exit codes of the ranks."""
        self.call('Exit')
        return [rank.process.wait(PATIENCE_S) for rank in self.ranks]


def _free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def fp32(value):
    """`value` rounded to fp32."""
    return struct.unpack('f', struct.pack('f', value))[0]


def folded(anchor, live, weight):
    """The anchor that a replica which is alone makes of its live values."""
    found = []
    for a, l in zip(anchor, live):
        owed = fp32(weight * fp32(a - l))
        found.append(fp32(a - fp32(owed / weight)))
    return found
