"""The door to Skerry: `job` and `attach`."""

import dataclasses
import json
import multiprocessing
import os
import socket
import sys

from skerry import line
from skerry import process

_attached = False
# What carries the calls when the program was started by `python -m skerry`.
_given_driver = None
_given_job = None


@dataclasses.dataclass(frozen=True)
class Job:
    """What the program may know of its job.

    Without Skerry, `name` is the program's file, the seeds are 0, and numbers
    that nobody gave are 0.
    """

    name: str
    # The object `model.program.parameters` of the job file.
    parameters: dict
    # `model.seed`, which initial values may depend on.
    seed: int = 0
    data_seed: int = 0
    data_id: str = ''
    # Samples an epoch; 0 when the job does not say.
    data_samples: int = 0
    # Positions of the whole run, over all epochs and all replicas.
    samples: int = 0
    # Samples of a replica's inner step, over all of its ranks.
    batch_samples: int = 0
    # Inner steps a round.
    tau: int = 0
    rank: int = 0
    world: int = 1


def job():
    """The job that this program serves. It may be asked before there is a
    model."""
    rank = int(os.environ.get('RANK', '0'))
    world = int(os.environ.get('WORLD_SIZE', '1'))
    if _given_job is not None:
        return _given_job
    if 'SKERRY_JOB' not in os.environ:
        return Job(os.path.basename(sys.argv[0]), {}, rank=rank, world=world)
    said = json.loads(os.environ['SKERRY_JOB'])
    known = {field.name for field in dataclasses.fields(Job)}
    return Job(**{key: value for key, value in said.items() if key in known},
               rank=rank, world=world)


def give(driver, given):
    """Makes the next `attach` take its calls from `driver`, and `job` answer
    `given`. It is for `python -m skerry`."""
    global _given_driver, _given_job
    _given_driver, _given_job = driver, given


def present():
    """Whether Skerry, or `python -m skerry`, has started this program."""
    return _given_driver is not None or 'SKERRY_FD' in os.environ


def attach(model, optimizer, *, scheduler=None, scaler=None, evaluate=None,
           export_files=None, buffers='average', state=None):
    """Makes the loop that follows a trainer of Skerry. Returns a `Run`.

    Call it once, when model and optimizer are complete: on their device, and
    after torch.compile, DistributedDataParallel or fully_shard.

    model: a torch.nn.Module, or {name: module} when several are trained. What
        requires a gradient is exchanged between the replicas. It is float32,
        bfloat16 or float16, and a DTensor lies along dimension 0.
    optimizer: the torch.optim.Optimizer that is stepped once a step of the job.
        A loop with several names one of them.
    scheduler: a scheduler of learning rates, or a list of them. Skerry moves
        them by samples; the loop's own calls of step() then do nothing.
    scaler: the loop's torch.amp.GradScaler. A step that it leaves out counts as
        skipped.
    evaluate: a function (model, samples) -> {"loss": mean loss, "samples": how
        many}. It measures at most that many samples of a validation set, or
        all when it gets 0. It runs in eval() and no_grad(), on every rank.
    export_files: {plain file name: str or bytes}, files that belong beside the
        weights, such as a config.json; 16 MiB in all.
    buffers: 'average': floating buffers that state_dict() has, such as
        BatchNorm's running statistics, are averaged over the replicas and are
        in checkpoints. 'local': they stay in each replica and are in none.
    state: {name: object}, what else the loop goes on with after a restart, such
        as an average of the weights or a second optimizer. Each has
        state_dict() and load_state_dict(); numbers, text, lists, dictionaries
        and tensors are saved.

    Raises ValueError for models that cannot be exchanged, and RuntimeError when
    it is called twice or in a loader process.

    Without Skerry the program runs as it would without this package.
    """
    global _attached
    if multiprocessing.parent_process() is not None:
        raise RuntimeError(
            'skerry.attach was called in a process that a loader started, '
            'because that imports the program anew: put the training under '
            '`if __name__ == "__main__":`')
    if _attached:
        raise RuntimeError('skerry.attach was called twice')
    if buffers not in ('average', 'local'):
        raise ValueError(f"buffers is {buffers!r}: give 'average' or 'local'")
    # torch is not imported before it is needed: lines and order work without.
    from skerry import run
    made = run.Run(model, optimizer, scheduler, scaler, evaluate,
                   export_files or {}, buffers, job(), *_driver(), state)
    _attached = True
    return made


def _driver():
    """(what carries the calls, the control page); (None, None) without
    Skerry."""
    if _given_driver is not None:
        return _given_driver, _given_driver.page
    if 'SKERRY_FD' not in os.environ:
        return None, None
    version = os.environ.get('SKERRY_PROTOCOL')
    if version != str(line.VERSION):
        raise RuntimeError(f'skerry-attach speaks version {version} of the '
                           f'lines, and this package version {line.VERSION}: '
                           'install the package of the same release')
    process.settle_signals()
    descriptor = int(os.environ['SKERRY_FD'])
    page = int(os.environ['SKERRY_CONTROL_FD'])
    for inherited in (descriptor, page):
        # A program that the loop starts must not hold them open.
        os.set_inheritable(inherited, False)
    mine = job()
    return (line.Connection(socket.socket(fileno=descriptor)),
            line.ControlPage(page, mine.rank, mine.world))
