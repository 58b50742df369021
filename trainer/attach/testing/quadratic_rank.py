"""A rank of a training program that needs Python's standard library alone.

Its model is a point that moves towards the middle of noisy targets. It speaks
the lines of docs/formats/attach.md, and breaks them where the job's parameters
say so:
  fault       what goes wrong, a function of Fault below
  fault_call  the call in which it does, such as Run
  fault_rank  the rank in which it does; default 0
  step_s      seconds that it sleeps in every step; default 0
  momentum    of its steps; default 0.5
"""

import base64
import faulthandler
import json
import math
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

_ELEMENTS, _EPOCH, _VALIDATION, _RATE = 64, 1000, 50, 0.1
_WIDTH = 8  # of the matrix, the first tensor; the rest is the second
_JOB = json.loads(os.environ['SKERRY_JOB'])
_PARAMETERS = _JOB['parameters']
_MOMENTUM = _PARAMETERS.get('momentum', 0.5)
_RANK, _RANKS = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])


class Refused(Exception):
    """A call that is answered with an error."""

    def __init__(self, code, error):
        super().__init__(error)
        self.code = code


class Group:
    """The ranks' sums, made by rank 0 in the order of ranks."""

    def __init__(self):
        self._files = []
        place = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
        if _RANKS == 1:
            return
        if _RANK == 0:
            self._host(place)
            return
        while True:
            try:
                connection = socket.create_connection(place)
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        connection.sendall(struct.pack('<i', _RANK))
        self._files = [connection.makefile('rwb')]

    def _host(self, place):
        listener = socket.create_server(place)
        by_rank = {}
        while len(by_rank) < _RANKS - 1:
            file = listener.accept()[0].makefile('rwb')
            by_rank[struct.unpack('<i', file.read(4))[0]] = file
        self._files = [by_rank[rank] for rank in sorted(by_rank)]

    def sum(self, values):
        form = f'<{len(values)}d'
        size = struct.calcsize(form)
        if _RANK > 0:
            self._files[0].write(struct.pack(form, *values))
            self._files[0].flush()
            return list(struct.unpack(form, self._files[0].read(size)))
        for file in self._files:
            other = struct.unpack(form, file.read(size))
            values = [a + b for a, b in zip(values, other)]
        for file in self._files:
            file.write(struct.pack(form, *values))
            file.flush()
        return values


class Fault:
    """What goes wrong, once."""

    def __init__(self, rank):
        self._rank = rank
        self._name = _PARAMETERS.get('fault')
        self._call = _PARAMETERS.get('fault_call')
        if _RANK != _PARAMETERS.get('fault_rank', 0):
            self._name = None

    def is_here(self, name):
        return self._name == name

    def on_call(self, call, identity):
        """Goes wrong when `call` is the one."""
        if self._name is None or call != self._call:
            return
        getattr(self, self._name, lambda _: None)(identity)

    def dies(self, _):
        print('the last thing that it says')
        os._exit(3)

    def killed(self, _):
        os.kill(os.getpid(), signal.SIGKILL)

    def raises(self, identity):
        self._rank.send({'id': identity, 'code': 'INTERNAL',
                         'error': 'RuntimeError: size mismatch (train.py:44)'})
        sys.exit(1)

    def hangs(self, _):
        while True:
            time.sleep(3600)

    def hangs_on(self, identity):
        """Not even SIGTERM ends it."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.hangs(identity)

    def garbles(self, _):
        self._rank.send_bytes(b'Traceback (most recent call last):\n')
        self.hangs(_)

    def floods(self, _):
        piece = b'x' * (1 << 20)
        for _ in range(40):
            self._rank.send_bytes(piece)
        self.hangs(_)

    def closes(self, _):
        self._rank.close()
        self.hangs(_)

    def has_child(self, _):
        child = subprocess.Popen(['sleep', '1000'])
        print(f'child {child.pid}')
        os._exit(3)


class Rank:

    def __init__(self):
        descriptor = int(os.environ['SKERRY_FD'])
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._lines = self._socket.makefile('rb')
        page = mmap.mmap(int(os.environ['SKERRY_CONTROL_FD']), 4096)
        self._page = memoryview(page).cast('Q')
        self._group = Group()
        self._fault = Fault(self)
        self._memory = None
        self._steps = 0
        self._noted = 0.0
        draw = random.Random(_JOB['seed'])
        self._point = [self._fp32(draw.uniform(-1, 1))
                       for _ in range(_ELEMENTS)]
        self._moment = [0.0] * _ELEMENTS
        # Steps behind the moments, in this process and those before it.
        self._behind = 0
        self._middle = [draw.uniform(-2, 2) for _ in range(_ELEMENTS)]

    @staticmethod
    def _fp32(value):
        return struct.unpack('<f', struct.pack('<f', value))[0]

    def send_bytes(self, data):
        self._socket.sendall(data)

    def send(self, line):
        self.send_bytes(json.dumps(line).encode() + b'\n')

    def close(self):
        self._lines.close()
        self._socket.close()

    def main(self):
        version = 2 if self._fault.is_here('other_version') else 1
        self.send({'hello': version, 'package': 'quadratic 1'})
        while True:
            line = self._lines.readline()
            if not line:
                return
            call = json.loads(line)
            name, identity = call['call'], call['id']
            if name == 'Exit':
                self._fault.on_call(name, identity)
                self.send({'id': identity, 'body': {}})
                print('the loop is over')
                return
            self._answer(name, identity, call['body'])

    def _answer(self, name, identity, body):
        work = {'Describe': self._describe, 'Run': self._run,
                'Snapshot': self._snapshot, 'Load': self._load,
                'Evaluate': self._evaluate, 'Generate': self._generate,
                'SaveInner': self._save_inner, 'LoadInner': self._load_inner}
        self._fault.on_call(name, identity)
        try:
            if name not in work:
                raise Refused('UNIMPLEMENTED', name)
            answer = work[name](identity, body)
        except Refused as refused:
            self.send({'id': identity, 'code': refused.code,
                       'error': str(refused)})
            return
        self.send({'id': identity, 'body': answer})
        if self._fault.is_here('answers_twice'):
            self.send({'id': identity, 'body': answer})
        if name == 'Run' and self._fault.is_here('fails_between'):
            self.send({'note': 'failed', 'error': 'KeyError: 7 (data.py:9)'})
            raise KeyError(7)

    def _describe(self, _, body):
        path = body.get('sharedMemory')
        if path and not self._fault.is_here('other_memory'):
            with open(path, 'r+b') as file:
                self._memory = memoryview(mmap.mmap(file.fileno(), 0)).cast('f')
        rows = _ELEMENTS // 2 // _WIDTH
        if self._fault.is_here('other_table'):
            rows, width = _WIDTH, rows
        else:
            width = _WIDTH
        name = '../config' if self._fault.is_here('file_name') else 'config'
        return {
            'elementCount': str(_ELEMENTS), 'epochSamples': str(_EPOCH),
            'validationSamples': str(_VALIDATION),
            'flopsPerSample': 4.0 * _ELEMENTS, 'unknownMember': [1],
            'capabilities': {'evaluates': True, 'generates': True,
                             'savesInner':
                             not self._fault.is_here('former')},
            'exportFiles': [{'name': f'{name}.json', 'content':
                             base64.b64encode(b'{}').decode()}],
            'tensors': [
                {'name': 'matrix', 'shape': [str(rows), str(width)],
                 'dtype': 'DTYPE_F32'},
                {'name': 'vector', 'shape': [str(_ELEMENTS // 2)],
                 'dtype': 'DTYPE_F32', 'offset': str(_ELEMENTS // 2),
                 'tied': ['vector.again']}]}

    def _pull(self, position, gradient=None):
        """Half the mean squared distance to a sample; adds its gradient."""
        noise = random.Random(position % _EPOCH)
        total = 0.0
        for i in range(_ELEMENTS):
            distance = (self._point[i] - self._middle[i]
                        - noise.uniform(-0.1, 0.1))
            total += distance * distance
            if gradient is not None:
                gradient[i] += distance
        return total / 2 / _ELEMENTS

    def _run(self, identity, body):
        positions = [p for part in body['ranges'] for p in range(
            int(part.get('begin', 0)), int(part['end']))]
        batch = int(body['replicaBatchSamples'])
        done = {'samples': 0, 'innerSteps': 0, 'loss': 0.0}
        norm = 0.0
        for begin in range(0, len(positions), batch):
            step = positions[begin:begin + batch]
            part = slice(len(step) * _RANK // _RANKS,
                         len(step) * (_RANK + 1) // _RANKS)
            norm = self._step(step, step[part], done)
            if self._must_stop(identity, done['innerSteps']):
                raise Refused('ABORTED', 'the call was stopped')
        count = done['samples']
        loss = done['loss'] / count if count else 0.0
        if self._fault.is_here('loses_samples'):
            count -= 1
        accuracy = ('NaN' if self._fault.is_here('odd_metric')
                    else 1.0 / (1.0 + loss))
        return {'samples': str(count), 'innerSteps': str(done['innerSteps']),
                'loss': loss, 'gradientNorm': norm, 'learningRate': _RATE,
                'metrics': {'accuracy': accuracy}}

    def _step(self, step, mine, done):
        gradient = [0.0] * _ELEMENTS
        for position in mine:
            done['loss'] += self._pull(position, gradient)
        done['samples'] += len(mine)
        if _RANKS > 1:
            gradient = self._group.sum(gradient)
        gradient = [value / len(step) for value in gradient]
        self._moment = [self._fp32(_MOMENTUM * m + g)
                        for m, g in zip(self._moment, gradient)]
        self._point = [self._fp32(x - _RATE * m)
                       for x, m in zip(self._point, self._moment)]
        self._behind += 1
        time.sleep(_PARAMETERS.get('step_s', 0))
        done['innerSteps'] += 1
        self._steps += 1
        now = time.monotonic()
        if now - self._noted >= 0.1:
            self._noted = now
            self.send({'note': 'step', 'steps': self._steps})
        return math.sqrt(sum(value * value for value in gradient))

    def _must_stop(self, identity, steps):
        """Whether this call ends after its step number `steps`."""
        page = self._page
        if _RANKS == 1:
            return page[0] == identity
        if _RANK == 0 and page[0] == identity and page[1] != identity:
            page[2] = steps + 1
            page[1] = identity
        return page[1] == identity and page[2] == steps

    @staticmethod
    def _ranges(body):
        return [(int(part.get('begin', 0)), int(part['end']))
                for part in body.get('ranges', [])]

    def _snapshot(self, _, body):
        # Each rank writes its part of the elements.
        low = _ELEMENTS * _RANK // _RANKS
        high = _ELEMENTS * (_RANK + 1) // _RANKS
        for begin, end in self._ranges(body):
            for i in range(max(begin, low), min(end, high)):
                self._memory[i] = self._point[i]
        return {}

    def _load(self, _, body):
        for begin, end in self._ranges(body):
            self._point[begin:end] = self._memory[begin:end]
        return {}

    def _evaluate(self, identity, body):
        most = int(body.get('samplesMax', 0)) or _VALIDATION
        samples = range(min(most, _VALIDATION))
        mine = samples[len(samples) * _RANK // _RANKS:
                       len(samples) * (_RANK + 1) // _RANKS]
        total = 0.0
        for position in mine:
            if self._page[0] == identity:
                raise Refused('ABORTED', 'the call was stopped')
            total += self._pull(position)
        return {'loss': total / len(mine) if mine else 0.0,
                'samples': str(len(mine))}

    def _save_inner(self, _, body):
        state = {'steps': self._behind}
        header = {'__metadata__': {
            'skerry.inner': '1',
            'skerry.layout_hash': body.get('layoutHash', '0'),
            'skerry.sequence': body.get('sequence', '0'),
            'skerry.state': json.dumps(state)}}
        half = _ELEMENTS // 2
        header['moment/matrix'] = {'dtype': 'F32',
                                   'shape': [half // _WIDTH, _WIDTH],
                                   'data_offsets': [0, 4 * half]}
        header['moment/vector'] = {'dtype': 'F32', 'shape': [half],
                                   'data_offsets': [4 * half, 8 * half]}
        text = json.dumps(header).encode()
        text += b' ' * (-len(text) % 8)
        data = (struct.pack('<Q', len(text)) + text
                + struct.pack(f'<{_ELEMENTS}f', *self._moment))
        # All ranks have the same moments.
        if _RANK == 0:
            with open(body['path'], 'r+b') as file:
                file.write(data)
        odd = self._fault.is_here('odd_inner')
        return {'bytes': str(len(data) + odd)}

    def _load_inner(self, _, body):
        with open(body['path'], 'rb') as file:
            size = struct.unpack('<Q', file.read(8))[0]
            header = json.loads(file.read(size))
            values = file.read()
        if 'moment/vector' not in header:
            raise Refused('INVALID_ARGUMENT', 'there is no moment/vector')
        metadata = header['__metadata__']
        self._moment = list(struct.unpack(f'<{_ELEMENTS}f', values))
        self._behind = json.loads(metadata['skerry.state'])['steps']
        return {'sequence': metadata['skerry.sequence'],
                'steps': str(self._behind)}

    @staticmethod
    def _generate(_, body):
        last = body.get('prompt', '')[-1:] or '\n'
        text = (last * int(body.get('tokens', 0))).encode()
        return {'text': base64.b64encode(text).decode()}


if __name__ == '__main__':
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    if _PARAMETERS.get('fault') == 'no_hello':
        raise ModuleNotFoundError("No module named 'torchvision'")
    Rank().main()
