"""Makes a plain PyTorch loop a trainer of Skerry, in three lines.

    run = skerry.attach(model, optimizer)
    for x, y in run.batches(dataset, batch_size=8):
        ...
        run.log(loss=loss)

`skerry.hf`, `skerry.accelerate` and `skerry.lightning` do the same for
transformers' Trainer, Accelerate and Lightning. docs/guides/pytorch.md of
Skerry is the guide.
"""

import importlib

from skerry.attach import Job
from skerry.attach import attach
from skerry.attach import job

__all__ = ['Job', 'attach', 'job']
_SHELLS = ('accelerate', 'hf', 'lightning')


def __getattr__(name):
    # A shell imports the package that it is for, so it waits to be asked for.
    if name in _SHELLS:
        return importlib.import_module(f'skerry.shells.{name}')
    raise AttributeError(f'module skerry has no attribute {name!r}')
