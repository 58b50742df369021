"""Runs a program in rounds without a cluster: `python -m skerry train.py`.

The program gets the calls that one replica would get under Local SGD, and each
round ends with the arithmetic of that replica, so that the values are the same
bit for bit. An anchor a, live values l and w samples give the next anchor
a - (w (a - l)) / w, in fp32; a - (a - l) is not l there. For values that are
averaged a is 0.
"""

import os
import sys

import torch

from skerry import line

_FP32_BYTES = 4


class Memory:
    """fp32 values that are shared with the package as a worker's are."""

    def __init__(self, elements):
        self._descriptor = os.memfd_create('skerry')
        os.ftruncate(self._descriptor, elements * _FP32_BYTES)
        self.path = f'/proc/self/fd/{self._descriptor}'
        self.values = torch.from_file(self.path, shared=True, size=elements,
                                      dtype=torch.float32)


class Driver:
    """Takes the place of a connection: hands out the calls that a generator
    yields as (name, body), and sends it the answers."""

    def __init__(self, calls):
        self._calls = calls
        self._answer = None
        self._count = 0
        page = os.memfd_create('page')
        os.ftruncate(page, line.PAGE_BYTES)
        self.page = line.ControlPage(page, 0, 1)

    def next_call(self):
        """The next call; None after the last one."""
        try:
            name, body = self._calls.send(self._answer)
        except StopIteration:
            return None
        self._count += 1
        return line.Call(name, self._count, body)

    def answer(self, call, body):
        del call
        self._answer = body

    def refuse(self, call, code, error):
        if code != 'INTERNAL':  # That is an exception, which says it itself.
            raise SystemExit(f'skerry: {call.name}: {code}: {error}')

    def hello(self, package):
        del package

    def note(self, kind, **members):
        del kind, members


def described():
    """Yields the calls that give a program a memory. Returns (the last
    description, the memory)."""
    sized = yield 'Describe', {}
    memory = Memory(int(sized['elementCount']))
    answer = yield 'Describe', {'sharedMemory': memory.path}
    return answer, memory


def rounds(samples, batch_samples, tau):
    """Yields the calls of a whole job of one replica.

    samples: positions of the run. batch_samples: those of a step. tau: inner
    steps a round.
    """
    described_as, memory = yield from described()
    everything = {'ranges': [{'begin': '0',
                              'end': described_as['elementCount']}]}
    averages = int(described_as.get('averageBegin', 0)) or len(memory.values)
    yield 'Snapshot', everything
    anchor = memory.values.clone()
    for begin in range(0, samples, batch_samples * tau):
        end = min(begin + batch_samples * tau, samples)
        after = min(end + batch_samples * tau, samples)
        ran = yield 'Run', {
            'ranges': [{'begin': str(begin), 'end': str(end)}],
            'replicaBatchSamples': str(batch_samples),
            'upcoming': [{'begin': str(end), 'end': str(after)}]}
        yield 'Snapshot', everything
        anchor[averages:] = 0
        anchor = _folded(anchor, memory.values, end - begin)
        memory.values.copy_(anchor)
        yield 'Load', everything
        print(f'skerry: {end} of {samples} samples{_said(ran)}',
              file=sys.stderr)
    if described_as['capabilities']['evaluates']:
        found = yield 'Evaluate', {}
        print(f'skerry: evaluation: loss {found["loss"]:.6g}',
              file=sys.stderr)
    yield 'Exit', {}


def _folded(anchor, live, samples):
    weight = torch.tensor(float(samples))
    return anchor - weight * (anchor - live) / weight


def _said(ran):
    means = {} if ran['noLoss'] else {'loss': ran['loss']}
    means |= ran['metrics']
    return ''.join(f', {name} {value:.6g}' for name, value in means.items()
                   if isinstance(value, float))
