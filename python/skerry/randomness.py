"""The random numbers of a loop: drawn anew from the job at each Run, and left
alone by an evaluation."""

import contextlib
import random
import sys

import torch

from skerry import ledger

_NUMPY_SEED_MAX = (1 << 32) - 1


def seed(data_seed, position, rank):
    """Seeds all generators of this process for a Run that begins at
    `position`. Replicas and ranks draw other numbers; a Run that is repeated
    draws the same."""
    drawn = ledger.random_at(ledger.random_at(data_seed, position), rank)
    random.seed(drawn)
    torch.manual_seed(drawn & ((1 << 63) - 1))
    if 'numpy' in sys.modules:
        sys.modules['numpy'].random.seed(drawn & _NUMPY_SEED_MAX)


@contextlib.contextmanager
def kept():
    """All generators are behind as they were before."""
    devices = (range(torch.cuda.device_count())
               if torch.cuda.is_initialized() else ())
    python = random.getstate()
    numpy = sys.modules.get('numpy')
    drawn = numpy.random.get_state() if numpy else None
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(python)
        if numpy:
            numpy.random.set_state(drawn)
