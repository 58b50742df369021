"""The shell of Accelerate: `skerry.accelerate.attach(accelerator, ...)`."""

import accelerate
from accelerate.utils import DistributedType

from skerry.attach import attach as attach_loop
from skerry.attach import job
from skerry.attach import present
from skerry.shells import loaders

_TAKEN = (DistributedType.NO, DistributedType.MULTI_CPU,
          DistributedType.MULTI_GPU)


def attach(accelerator, model, optimizer, scheduler=None, *, evaluate=None,
           export_files=None, buffers='average'):
    """Makes the loop that follows a trainer of Skerry. Returns a `Run`.

    model, optimizer, scheduler: what accelerator.prepare has returned, for one
        device or DistributedDataParallel.
    evaluate, export_files, buffers: as for skerry.attach.

    Raises ValueError for what Skerry cannot do. Without Skerry the loop runs as
    it would without this package.
    """
    if not present():
        return Run(accelerator, None)
    if accelerator.distributed_type not in _TAKEN:
        raise ValueError('skerry.accelerate takes one device or '
                         'DistributedDataParallel, and not '
                         f'{accelerator.distributed_type.value}')
    given = getattr(scheduler, 'scheduler', scheduler)
    if given is not None:
        _step_as_accelerate_does(accelerator, given)
    return Run(accelerator, attach_loop(
        model, getattr(optimizer, 'optimizer', optimizer), scheduler=given,
        scaler=accelerator.scaler, evaluate=evaluate,
        export_files=export_files, buffers=buffers))


def _step_as_accelerate_does(accelerator, scheduler):
    """Schedulers count the batches of all processes, unless a batch is split
    over them."""
    count = 1 if accelerator.split_batches else accelerator.num_processes
    step = scheduler.step

    def several():
        for _ in range(count):
            step()
    scheduler.step = several


class Run:
    """What `skerry.accelerate.attach` returns. One thread uses it."""

    def __init__(self, accelerator, run):
        self._accelerator, self._run = accelerator, run

    @property
    def progress(self):
        """The highest position of the run at which this process has begun a
        step, in samples; 0 without Skerry."""
        return self._run.progress if self._run else 0

    @property
    def samples(self):
        """The positions of the whole run; 0 without Skerry."""
        return self._run.samples if self._run else 0

    def batches(self, loader):
        """Yields the batches to train on, on the accelerator's device, until
        the job has ended.

        loader: what accelerator.prepare has returned for a DataLoader. Its data
            set, its batch size and its other arguments are used, and its order
            is not: Skerry decides which samples come.

        Raises ValueError when a step of the job is another number of samples
        than a step of the loop.
        """
        if self._run is None:
            yield from loader
            return
        accelerator = self._accelerator
        count = accelerator.gradient_accumulation_steps
        processes = accelerator.num_processes
        loaders.check_steps(job(), 'Accelerate', processes,
                            loader.total_batch_size // processes, count)
        for batch in self._run.batches(loader.dataset, micro_batches=count,
                                       **loaders.options_of(loader)):
            yield accelerate.utils.send_to_device(batch, accelerator.device)

    def log(self, n=None, **means):
        """Reports means over a batch, as `skerry.attach`'s Run does. Without
        Skerry it does nothing."""
        if self._run is not None:
            self._run.log(n, **means)
