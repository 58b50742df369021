"""Runs scripts of other packages in this process, attached to calls that a test
writes down, and an example in a process of its own."""

import os
import runpy
import sys
import tempfile

import in_process
import stand_in
import torch
from skerry import alone
from skerry import ledger

torch.set_num_threads(1)
# The name skerry.attach is a function's, too.
door = sys.modules['skerry.attach']


def script(found, *bodies, after=()):
    """Yields the calls of a job with these Runs, and those of `after`. Puts
    the description and the answers into `found`, and last the values."""
    described, memory, everything = yield from in_process.memory()
    found.append(described)
    for body in bodies:
        found.append((yield 'Run', body))
    for call in after:
        found.append((yield call))
    yield 'Snapshot', everything
    found.append(memory.clone())
    yield 'Exit', {}


def run(main, calls, **members):
    """Runs `main()` as a program whose calls the generator `calls` yields.
    `members` are those of its job."""
    door.give(in_process.Driver(calls), in_process.job(**members))
    door._attached = False
    folder = os.getcwd()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        try:
            main()
        finally:
            os.chdir(folder)
            door.give(None, None)


def positions(*bounds, batch=8):
    """The bodies of the Runs between these positions."""
    return [in_process.positions(begin, end, batch)
            for begin, end in zip(bounds, bounds[1:])]


def in_order(dataset, begin, end):
    """The samples of `dataset` that a job has at these positions."""
    return torch.utils.data.Subset(dataset, ledger.SampleOrder(
        len(dataset), 1).indices(begin, end))


def values(model):
    """All trained values in one row, as the flat state has them."""
    return torch.cat([one.detach().flatten() for one in model.parameters()
                      if one.requires_grad])


def _seen(calls, found):
    """Passes `calls` on, and leaves the last values in `found`."""
    answer = path = None
    while True:
        try:
            name, body = calls.send(answer)
        except StopIteration:
            return
        path = body.get('sharedMemory', path)
        if name == 'Exit':
            size = os.stat(path).st_size // 4
            found.append(torch.from_file(path, size=size).clone())
        answer = yield name, body


def alone_values(example, samples, batch, tau):
    """The values of examples/`example` after `python -m skerry`."""
    found = []
    program = os.path.join(stand_in.ROOT, 'examples', example, 'train.py')
    run(lambda: runpy.run_path(program, run_name='__main__'),
        _seen(alone.rounds(samples, batch, tau), found),
        samples=samples, batch_samples=batch, tau=tau, seed=1)
    return found[0]


def attached_values(case, example, samples, batch, tau, ranks=1):
    """The values of examples/`example` after the rounds of a stand-in, and rank
    0's mean losses."""
    log = case.enterContext(tempfile.TemporaryFile('w+'))
    started = case.enterContext(stand_in.StandIn(
        os.path.join(stand_in.ROOT, 'examples', example, 'train.py'), ranks,
        log, samples=samples, batch_samples=batch, tau=tau))
    started.describe()
    anchor = started.snapshot()
    losses = []
    for begin in range(0, samples, batch * tau):
        losses.append(started.run(begin, begin + batch * tau)[0]['loss'])
        anchor = stand_in.folded(anchor, started.snapshot(), batch * tau)
        started.load(anchor)
    case.assertEqual(started.leave(), [0] * ranks)
    return torch.tensor(anchor), losses
