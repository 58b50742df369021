"""Measures what a program trains: `python -m skerry describe`."""

import math
import resource
import time

import torch
from torch.utils import flop_counter

from skerry import alone

_TIMED_STEPS = 5


def calls(batch_samples, found):
    """Yields the calls of a few steps, and puts what was measured into the
    dictionary `found`."""
    described_as, _ = yield from alone.described()
    # Without the gap before those that are averaged.
    found['elements'] = sum(math.prod(map(int, one['shape']))
                            for one in described_as['tensors'])
    with flop_counter.FlopCounterMode(display=False) as counter:
        yield 'Run', _steps(0, 1, batch_samples)
    began_s = time.monotonic()
    yield 'Run', _steps(1, _TIMED_STEPS, batch_samples)
    took_s = time.monotonic() - began_s
    found['flops_per_sample'] = counter.get_total_flops() / batch_samples
    found['step_s'] = took_s / _TIMED_STEPS
    found['samples_per_step'] = batch_samples
    found['peak_memory_bytes'] = _peak_memory_bytes()
    found['tensors'] = [
        {'name': one['name'], 'shape': [int(n) for n in one['shape']],
         'dtype': one['dtype'].removeprefix('DTYPE_').lower(),
         'tied': one['tied']} for one in described_as['tensors']]
    yield 'Exit', {}


def _steps(first, count, batch_samples):
    return {'ranges': [{'begin': str(first * batch_samples),
                        'end': str((first + count) * batch_samples)}],
            'replicaBatchSamples': str(batch_samples)}


def _peak_memory_bytes():
    """The device's, or the process's when no device was used."""
    if torch.cuda.is_initialized():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
