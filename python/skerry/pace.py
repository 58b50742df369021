"""Holds the loop to one optimizer step a step of the job, and moves schedulers
by samples."""

import warnings

import torch

_TOO_EARLY = ('a batch of the next step was asked for before '
              'optimizer.step(): something fetches batches ahead (a loader '
              'prepared by Accelerate does), or the loop accumulates over '
              'another number of batches')
_TOO_OFTEN = ('optimizer.step() was called {count} times in one step of the '
              'job: the loop accumulates over fewer batches than the step has; '
              'call it when run.last_micro is true')


class LoopError(RuntimeError):
    """The loop does not keep to the steps of the job. Trying again ends the
    same way."""


class Pace:
    """Watches the optimizer of a loop.

    optimizer: the one that is stepped once a step of the job.
    scaler: the loop's GradScaler, or None.
    """

    def __init__(self, optimizer, scaler):
        self._scaler = scaler
        self._steps = 0
        self._scale = self._read_scale()
        optimizer.register_step_post_hook(self._stepped)

    def begin(self):
        """A step of the job begins."""
        self._steps = 0

    def scale_was_loaded(self):
        """The scaler has taken another state."""
        self._scale = self._read_scale()

    def between(self):
        """A micro-batch that is not the step's last is done. Raises
        LoopError when the optimizer has already stepped."""
        if self._steps:
            # The batches that are left would make the step a second one.
            raise LoopError(_TOO_OFTEN.format(count='several'))

    def end(self):
        """The step's last micro-batch is done. Returns whether the scaler has
        left the step out, because gradients had overflowed. Raises LoopError
        when the optimizer has not stepped exactly once."""
        before, self._scale = self._scale, self._read_scale()
        if self._steps > 1:
            raise LoopError(_TOO_OFTEN.format(count=self._steps))
        if self._steps == 1:
            return False
        if self._scale is not None and self._scale < before:
            return True
        raise LoopError(_TOO_EARLY)

    def _stepped(self, *_):
        self._steps += 1

    def _read_scale(self):
        return None if self._scaler is None else self._scaler.get_scale()


class Schedule:
    """Moves schedulers by the samples of the whole run.

    A loop is written as though it ran alone: its schedulers count steps of
    `batch_samples`. With R replicas, the run moves on R such steps at a time,
    and so do the schedulers. The loop's own calls of step() do nothing.
    """

    def __init__(self, schedulers, batch_samples):
        self._batch_samples = batch_samples
        self._steps = []
        self._counted = 0
        for scheduler in schedulers:
            if isinstance(scheduler,
                          torch.optim.lr_scheduler.ReduceLROnPlateau):
                raise ValueError('a scheduler that follows a measured value, '
                                 'such as ReduceLROnPlateau, cannot move by '
                                 'samples')
            self._steps.append(scheduler.step)
            scheduler.step = _ignore

    def move_to(self, position):
        """`position`: the highest position of the run seen so far."""
        wanted = position // self._batch_samples
        with warnings.catch_warnings():
            # torch expects that the optimizer steps before the scheduler.
            warnings.simplefilter('ignore', UserWarning)
            while self._counted < wanted:
                for step in self._steps:
                    step()
                self._counted += 1


def _ignore(*_, **__):
    """Takes the place of a scheduler's step()."""
