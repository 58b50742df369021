"""The shell of Lightning: `skerry.lightning.attach(trainer)`."""

import copy

from lightning.pytorch import callbacks
from lightning.pytorch import strategies

from skerry.attach import attach as attach_loop
from skerry.attach import job
from skerry.attach import present
from skerry.shells import loaders


def attach(trainer, *, evaluate=None, export_files=None, buffers='average'):
    """Makes `trainer.fit(...)`, which is called next, a trainer of Skerry.

    trainer: a lightning.Trainer for one device or DistributedDataParallel. The
        module has one optimizer, which Lightning steps, and its training data
        is one DataLoader.
    evaluate, export_files, buffers: as for skerry.attach. The function gets the
        module.

    The job decides how long it trains, on which samples, and when it is saved
    and evaluated.

    Raises ValueError for what Skerry cannot do. Without Skerry it does nothing.
    """
    if not present():
        return
    _refuse(trainer)
    trainer.callbacks.append(_Shell(trainer, evaluate, export_files, buffers))


def _refuse(trainer):
    if not isinstance(trainer.strategy, (strategies.SingleDeviceStrategy,
                                         strategies.DDPStrategy)):
        raise ValueError('skerry.lightning takes one device or the strategy '
                         f'ddp, and not {type(trainer.strategy).__name__}')
    for name, usual in (('limit_train_batches', 1.0), ('overfit_batches', 0.0),
                        ('fast_dev_run', False)):
        if getattr(trainer, name) != usual:
            raise ValueError(f'Trainer({name}=...): the job decides how long '
                             'it trains')
    for one in trainer.callbacks:
        if isinstance(one, (callbacks.EarlyStopping, callbacks.Timer,
                            callbacks.GradientAccumulationScheduler)):
            raise ValueError(f'{type(one).__name__}: the job decides how long '
                             'it trains, and how many samples a step has')


class _Batches:
    """What Lightning takes its batches from. With a length, Lightning fetches
    no batch ahead; the one here is that of a run with one replica."""

    def __init__(self, trainer, length):
        self._trainer, self._length = trainer, length
        # Made when Lightning has its optimizer.
        self.batches = None

    def __len__(self):
        return self._length

    def __iter__(self):
        for batch in self.batches:
            yield batch
        self._trainer.should_stop = True


class _Shell(callbacks.Callback):
    """Stands between a Trainer and a Run."""

    def __init__(self, trainer, evaluate, export_files, buffers):
        self._evaluate, self._files = evaluate, export_files
        self._buffers = buffers
        self._run = self._source = None
        kept = [one for one in trainer.callbacks
                if not isinstance(one, callbacks.Checkpoint)]
        trainer.callbacks[:] = kept
        trainer.limit_val_batches = trainer.num_sanity_val_steps = 0
        trainer.reload_dataloaders_every_n_epochs = 0
        loaders.say('the job decides how long Lightning trains, and its own '
                    'checkpoints and validation are off')
        self._batches = _Batches(
            trainer, loaders.steps_of(job())
            * trainer.accumulate_grad_batches)

    def setup(self, trainer, pl_module, stage):
        # One epoch: what estimated_stepping_batches, and so the scheduler, is
        # to see.
        trainer.fit_loop.max_epochs, trainer.fit_loop.min_epochs = 1, 0
        trainer.fit_loop.epoch_loop.max_steps = -1
        trainer.fit_loop.epoch_loop.min_steps = None
        source = trainer.fit_loop._data_source
        self._source = copy.copy(source)
        source.instance = self._batches

    def on_train_start(self, trainer, pl_module):
        if trainer.global_step:
            raise ValueError('fit(ckpt_path=...): a job goes on from its own '
                             'checkpoints')
        if not pl_module.automatic_optimization or len(
                trainer.optimizers) != 1:
            raise ValueError('skerry.lightning takes a module with one '
                             'optimizer and automatic optimization')
        for one in trainer.lr_scheduler_configs:
            if one.interval != 'step' or one.frequency != 1:
                raise ValueError(
                    f'a scheduler with interval {one.interval!r} and '
                    f'frequency {one.frequency}: schedulers move by samples, '
                    "so configure_optimizers has to say 'interval': 'step'")
        loader = self._source.dataloader()
        if not hasattr(loader, 'dataset'):
            raise ValueError('the training data of Lightning is a '
                             f'{type(loader).__name__}, and not one DataLoader')
        loaders.check_steps(job(), 'Lightning', trainer.world_size,
                            loader.batch_size, trainer.accumulate_grad_batches)
        # The end is the job's.
        trainer.fit_loop.max_epochs = -1
        self._run = attach_loop(
            pl_module, trainer.optimizers[0],
            scheduler=[one.scheduler for one in trainer.lr_scheduler_configs],
            scaler=getattr(trainer.precision_plugin, 'scaler', None),
            evaluate=self._evaluate, export_files=self._files,
            buffers=self._buffers)
        self._batches.batches = self._run.batches(
            loader.dataset, micro_batches=trainer.accumulate_grad_batches,
            **loaders.options_of(loader))

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        # Lightning has divided the loss for the accumulation.
        self._run.log(loss=outputs['loss'] * trainer.accumulate_grad_batches)
