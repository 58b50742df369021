"""The shell of transformers' Trainer: `skerry.hf.attach(trainer)`."""

import copy
import os
import tempfile

import torch
import transformers

from skerry.attach import attach as attach_loop
from skerry.attach import job
from skerry.attach import present
from skerry.shells import loaders

_MEASURED = ('reduce_lr_on_plateau', 'greedy')
_EXPORT_BYTES_MAX = 16 << 20


def attach(trainer, *, export_files=None, buffers='average'):
    """Makes `trainer.train()`, which is called next, a trainer of Skerry.

    trainer: a transformers.Trainer, or an object of a class that is made of it,
        for one device or DistributedDataParallel. Its data set has len() and
        [index].
    export_files: {plain file name: str or bytes}, files that belong beside the
        weights. None: the model's configuration, and the tokenizer when the
        trainer has it.
    buffers: as for skerry.attach.

    The job decides how long it trains, on which samples, and when it is saved
    and evaluated. With an eval_dataset, the job's evaluations measure its loss.

    Raises ValueError for what Skerry cannot do. Without Skerry it does nothing.
    """
    if not present():
        return
    _refuse(trainer)
    trainer.add_callback(_Shell(trainer, export_files, buffers))


def _refuse(trainer):
    arguments = trainer.args
    if trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled:
        raise ValueError('skerry.hf takes a Trainer for one device or '
                         'DistributedDataParallel, without DeepSpeed and FSDP: '
                         'write the loop by hand, as examples/fsdp2 does')
    if arguments.auto_find_batch_size:
        raise ValueError('auto_find_batch_size: the job says how many samples '
                         'a step has, so they cannot be found')
    if str(getattr(arguments.lr_scheduler_type, 'value',
                   arguments.lr_scheduler_type)) in _MEASURED:
        raise ValueError(f'lr_scheduler_type {arguments.lr_scheduler_type}: a '
                         'scheduler that follows a measured value cannot move '
                         'by samples')
    loaders.check_steps(job(), 'Trainer', arguments.world_size,
                        arguments.train_batch_size,
                        arguments.gradient_accumulation_steps)


class _Batches:
    """What Trainer takes its batches from. It has no length, so that Trainer
    counts steps, and each epoch goes on where the one before it ended."""

    def __init__(self, dataset, trainer):
        self.dataset = dataset
        self._trainer = trainer
        # Made when Trainer has its optimizer.
        self.batches = None

    def __iter__(self):
        for batch in self.batches:
            yield batch
        self._trainer.control.should_training_stop = True


class _Shell(transformers.TrainerCallback):
    """Stands between a Trainer and a Run."""

    def __init__(self, trainer, export_files, buffers):
        self._trainer, self._files = trainer, export_files
        self._buffers = buffers
        self._run = self._loader = self._batches = None
        self._loss = 0.0
        arguments = trainer.args
        # The scheduler's length. The end is the job's.
        arguments.max_steps = loaders.steps_of(job())
        arguments.load_best_model_at_end = arguments.eval_on_start = False
        loaders.say("the job decides how long Trainer trains, and its own "
                    'saving and evaluation are off')
        self._make_loader = trainer.get_train_dataloader
        trainer.get_train_dataloader = self._unprepared
        self._training_step = trainer.training_step
        trainer.training_step = self._step

    def on_train_begin(self, args, state, control, **_):
        trainer = self._trainer
        if state.global_step:
            raise ValueError('resume_from_checkpoint: a job goes on from its '
                             'own checkpoints')
        optimizer = trainer.optimizer
        self._run = attach_loop(
            trainer.model, getattr(optimizer, 'optimizer', optimizer),
            scheduler=trainer.lr_scheduler,
            scaler=trainer.accelerator.scaler,
            evaluate=self._evaluate if self._evaluates() else None,
            export_files=_beside(trainer) if self._files is None
            else self._files, buffers=self._buffers)
        self._batches.batches = self._run.batches(
            self._batches.dataset,
            micro_batches=args.gradient_accumulation_steps,
            **loaders.options_of(self._loader))

    def on_step_end(self, args, state, control, **_):
        # Trainer's losses of a step's batches are parts of the step's mean.
        self._run.log(n=self._run.step_samples, loss=self._loss)
        self._loss = 0.0
        seen = self._run.progress + job().batch_samples
        state.epoch = seen / len(self._batches.dataset)
        self._decide(state, control)

    def on_epoch_end(self, args, state, control, **_):
        self._decide(state, control)

    def on_log(self, args, state, control, logs=None, **_):
        if 'grad_norm' in (logs or {}):
            self._run.log(n=self._run.step_samples,
                          gradient_norm=logs['grad_norm'])

    def _decide(self, state, control):
        """Takes back what Trainer's own flow has decided."""
        control.should_save = control.should_evaluate = False
        if state.global_step >= state.max_steps and not self._run.ended:
            control.should_training_stop = False

    def _unprepared(self):
        # Accelerate's loader would fetch a batch ahead.
        self._loader = self._make_loader()
        self._batches = _Batches(self._loader.dataset, self._trainer)
        return self._batches

    def _step(self, *arguments, **named):
        loss = self._training_step(*arguments, **named)
        self._loss = self._loss + loss.detach()
        return loss

    def _evaluates(self):
        data = self._trainer.eval_dataset
        return hasattr(data, '__getitem__') and not isinstance(data, dict)

    def _evaluate(self, _, samples):
        data = self._trainer.eval_dataset
        count = min(samples or len(data), len(data))
        found = self._trainer.evaluate(
            torch.utils.data.Subset(data, range(count)))
        # All ranks have the mean over all of them, and each counts its part.
        rank, world = job().rank, job().world
        return {'loss': found['eval_loss'],
                'samples': count * (rank + 1) // world - count * rank // world}


def _beside(trainer):
    """{name: bytes} of what from_pretrained needs beside the weights."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        model = trainer.model
        if isinstance(model, transformers.PreTrainedModel):
            config = copy.deepcopy(model.config)
            config.architectures = [type(model).__name__]
            config.save_pretrained(folder)
            if model.can_generate():
                model.generation_config.save_pretrained(folder)
        if hasattr(trainer.processing_class, 'save_pretrained'):
            trainer.processing_class.save_pretrained(folder)
        for entry in os.scandir(folder):
            if entry.is_file():
                with open(entry.path, 'rb') as file:
                    found[entry.name] = file.read()
    if sum(map(len, found.values())) > _EXPORT_BYTES_MAX:
        loaders.say('the tokenizer is too large for the checkpoints, so they '
                    'have the configuration alone')
        found = {name: content for name, content in found.items()
                 if name in ('config.json', 'generation_config.json')}
    return found
