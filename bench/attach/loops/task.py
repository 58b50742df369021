"""What all loops of this bench train on, and how they are watched.

Lines of a loop that call `mark`, `begin` or `finish` watch it, and no user
needs them; they end in the comment `# bench`.
"""

import json
import os
import time

import torch
from torch.nn import functional

torch.set_num_threads(1)
SAMPLES, BATCH, TAU = 32768, 32, 16
REPLICAS = 2
# Contributions of a replica to an exchange that make the whole run.
EXCHANGED = SAMPLES // (BATCH * TAU)
_VALIDATION = 2048
_read = []


class Pictures(torch.utils.data.Dataset):
    """Pictures of 1 x 16 x 16 values, noise over one of ten patterns, and the
    number of the pattern. It remembers what was read."""

    def __init__(self, count, seed):
        patterns = torch.randn(10, 1, 16, 16,
                               generator=torch.Generator().manual_seed(0))
        generator = torch.Generator().manual_seed(seed)
        self._kinds = torch.randint(10, (count,), generator=generator)
        self._pictures = patterns[self._kinds] + 6 * torch.randn(
            count, 1, 16, 16, generator=generator)

    def __len__(self):
        return len(self._kinds)

    def __getitem__(self, index):
        _read.append(index)
        return self._pictures[index], self._kinds[index]


def dataset():
    return Pictures(SAMPLES, seed=1)


def network():
    """All replicas begin with the same values."""
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 3, padding=1), torch.nn.GroupNorm(4, 32),
        torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.GroupNorm(4, 64),
        torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(64 * 4 * 4, 10))


def validation_loss(model):
    data = Pictures(_VALIDATION, seed=2)
    with torch.no_grad():
        return functional.cross_entropy(
            model.eval()(data._pictures), data._kinds).item()


def seed():
    """What the run draws its order from."""
    return int(os.environ['BENCH_SEED'])


def _write(**members):
    with open(os.path.join(os.environ['BENCH_MARKS'],
                           f'{os.getpid()}.jsonl'), 'a',
              encoding='ascii') as file:
        file.write(json.dumps({'at_s': time.monotonic(), **members}) + '\n')


def begin(replica=None):
    """Waits until all replicas are here; one that is started anew goes on."""
    _write(replica=replica)
    folder = os.environ['BENCH_MARKS']
    while len(os.listdir(folder)) < REPLICAS:
        time.sleep(0.01)


def mark(step=None):
    """A step is done. `step`: the contributions that have counted so far."""
    _write(read=_read[:], step=step)
    _read.clear()


def healed():
    """Values of another replica replace what was trained here."""
    _read.clear()
    _write(healed=True)


def finish(model):
    """The loop has ended, and `model` is its result."""
    _write(loss=validation_loss(model))
