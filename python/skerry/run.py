"""A loop that is attached to Skerry.

Every call is carried out on the loop's own thread, inside next() of
`Run.batches`. There the optimizer's step is over and no batch is in flight, so
no copy can meet a forward or a backward.
"""

import base64
import contextlib
import math
import re
import sys
import time

import torch

from skerry import inner
from skerry import ledger
from skerry import loader
from skerry import names
from skerry import pace
from skerry import process
from skerry import randomness
from skerry import release
from skerry import state
from skerry.line import BrokenLine
from skerry.line import Refused
from skerry.line import number
from skerry.line import ranges
from skerry.line import whole
from skerry.means import Means

_METRICS_MAX = 16
_METRIC_NAME = re.compile(r'[A-Za-z0-9_./-]{1,32}')
_EXPORT_BYTES_MAX = 16 << 20
_NOTES_APART_S = 0.1
# What a RunReply has a member of its own for.
_OWN_MEMBERS = {'loss': 'loss', 'gradient_norm': 'gradientNorm',
                'learning_rate': 'learningRate'}


class _Stop(BaseException):
    """Leaves an evaluation that has to stop; no loop's `except` sees it."""


class Run:
    """What `skerry.attach` returns. One thread uses it."""

    def __init__(self, model, optimizer, scheduler, scaler, evaluate,
                 export_files, buffers, job, driver, page, extra=None):
        self._model, self._optimizer = model, optimizer
        self._evaluate_function = evaluate
        self._job, self._driver, self._page = job, driver, page
        self._files = _exported(export_files)
        self._means = Means()
        self._loader = self._serving = None
        self._epoch_samples = 0
        self._micro_size, self._micro_batches = None, None
        self._micro_samples = self._step_samples = 0
        self._last_micro, self._micro_share = True, 1.0
        self._progress = self._steps = 0
        self._noted_s, self._waited_s = -math.inf, 0.0
        self._ended = False
        if driver is None:
            return
        self._words = process.LastWords(driver)
        self._table = state.Table(model, job.rank, job.world,
                                  average=buffers == 'average')
        self._pace = pace.Pace(optimizer, scaler)
        self._inner = inner.Inner(self._table, model, optimizer, scaler,
                                  extra or {}, job.rank)
        schedulers = ([] if scheduler is None else
                      scheduler if isinstance(scheduler, (list, tuple))
                      else [scheduler])
        self._schedule = pace.Schedule(schedulers, max(1, job.batch_samples))
        if job.rank == 0:
            _say_buffers(self._table)
        driver.hello(release.package())

    @property
    def last_micro(self):
        """Whether the batch that came last ends a step: call
        optimizer.step() after it."""
        return self._last_micro

    @property
    def micro_share(self):
        """The share that the batch that came last has in its step's samples.
        `(loss * run.micro_share).backward()` accumulates a mean over the
        step."""
        return self._micro_share

    @property
    def step_samples(self):
        """This rank's samples in the step of the batch that came last."""
        return self._step_samples

    @property
    def progress(self):
        """The highest position of the run at which this process has begun a
        step, in samples."""
        return self._progress

    @property
    def samples(self):
        """The positions of the whole run; 0 without Skerry."""
        return self._job.samples

    @property
    def ended(self):
        """Whether the job has ended."""
        return self._ended

    def batches(self, dataset, batch_size=None, *, micro_batches=None,
                num_workers=0, collate_fn=None, **options):
        """Yields the batches to train on, until the job has ended.

        dataset: anything with len() and [index]. `__getitems__` is used when it
            is there. Or a function (begin, end) that yields the samples at
            these positions of the run, end - begin of them, from 0 on over all
            epochs: the function says then which sample is where. The job says
            data.samples for it.
        batch_size: samples of one batch of this rank. None: all that the rank
            has of a step. When it is smaller, a step comes in several batches,
            and the loop accumulates gradients over them.
        micro_batches: in place of batch_size, how many batches each step comes
            in. A step that has fewer samples than others comes in as many.
        num_workers, collate_fn and **options: as for
            torch.utils.data.DataLoader.

        Without Skerry it yields one epoch, and a step is one batch.

        Raises TypeError for a data set that cannot be entered at any sample,
        and for options that would choose samples or their order. Raises
        ValueError for a data set of another size than the job says, and
        LoopError when the loop does not step its optimizer once a step.
        """
        samples = loader.check(dataset, options)
        if samples is None:
            samples = self._samples_of_function()
        elif self._job.data_samples not in (0, samples):
            raise ValueError(f'the data set has {samples} samples, and the job '
                             f'says data.samples: {self._job.data_samples}')
        for name, given in (('batch_size', batch_size),
                            ('micro_batches', micro_batches)):
            if given is not None and given < 1:
                raise ValueError(f'{name} is {given}')
        if None not in (batch_size, micro_batches):
            raise ValueError('batch_size and micro_batches: give one of them')
        if self._driver is None and batch_size is None:
            raise ValueError('run.batches needs a batch_size without Skerry')
        if self._ended:
            return iter(())
        self._epoch_samples = samples
        order = None
        if hasattr(dataset, '__getitem__'):
            order = ledger.SampleOrder(samples, self._job.data_seed)
        self._loader = loader.Loader(dataset, order, num_workers, collate_fn,
                                     **options)
        self._micro_size, self._micro_batches = batch_size, micro_batches
        if self._driver is None:
            return self._one_epoch()
        # An exception in the loop must not close the generator before the
        # exception is known.
        self._serving = self._serve()
        return self._serving

    def log(self, n=None, **means):
        """Reports means over a batch: `run.log(loss=loss)`.

        n: the samples that they are means over; None: those of the batch that
            came last.
        loss, gradient_norm and learning_rate have places of their own in
        Skerry's reports. Up to 16 others may be there, with names of 1 to 32
        letters, digits, `_`, `.`, `/` and `-`. Values are numbers, or tensors
        of one element, which are not read before the end of a round.
        """
        for name, value in means.items():
            if not _METRIC_NAME.fullmatch(name):
                raise ValueError(f'run.log: {name!r} is no name of a metric')
            self._means.add(name, value,
                            self._micro_samples if n is None else n)

    def _samples_of_function(self):
        """The samples of an epoch of a function, as the job says."""
        if self._driver is None:
            raise ValueError('a data function does not say how many samples '
                             'there are: run the program with python -m '
                             'skerry, or in a cluster')
        return self._job.data_samples

    def _one_epoch(self):
        """Without Skerry: every sample once, in the order of the ledger."""
        job = self._job
        step = self._micro_size * job.world
        # The ranks have to take the same number of steps.
        samples = self._epoch_samples // job.world * job.world
        for one in ledger.steps([(0, samples)], step, self._micro_size,
                                job.rank, job.world):
            self._loader.begin(one.micros)
            self._progress = max(self._progress, one.first)
            self._micro_samples = self._step_samples = one.samples
            yield self._loader.next()
        means = ', '.join(f'{name} {value:.6g}'
                          for name, value in self._means.read().items())
        self._means = Means()
        print(f'skerry: {samples} samples{", " if means else ""}{means}',
              file=sys.stderr)

    def _serve(self):
        """With Skerry: carries out calls until the last one."""
        try:
            while (call := self._next_call()).name != 'Exit':
                if call.name == 'Run':
                    yield from self._train(call)
                else:
                    self._answer(call, self._carry_out)
            self._answer(call, lambda _: {})
            self._words.silence()
            self._ended = True
            self._loader.close()
        except Exception as error:
            self._words.say(process.in_one_line(error))
            raise

    def _next_call(self):
        try:
            call = self._driver.next_call()
        except BrokenLine as error:
            raise SystemExit(f'skerry: {error}') from error
        if call is None:
            self._words.silence()
            raise SystemExit('skerry: skerry-attach has ended')
        self._words.call = call
        self._page.begin(call)
        return call

    def _answer(self, call, carry_out):
        """Answers `call` with what `carry_out(call)` returns."""
        try:
            body = carry_out(call)
        except Refused as refusal:
            self._refuse(call, refusal.code, str(refusal))
        else:
            self._driver.answer(call, body)
            self._words.call = None

    def _carry_out(self, call):
        calls = {'Describe': self._describe, 'Snapshot': self._snapshot,
                 'Load': self._load, 'Evaluate': self._evaluate,
                 'SaveInner': self._save_inner, 'LoadInner': self._load_inner}
        if call.name not in calls:
            raise Refused('UNIMPLEMENTED', f'{call.name} is not known here')
        return calls[call.name](call.body)

    def _describe(self, body):
        self._table.check_unchanged()
        path = body.get('sharedMemory', '')
        if path:
            self._table.map_memory(path)
        evaluates = self._evaluate_function is not None
        return {
            'implementation': f'{release.package()}, torch '
                              f'{torch.__version__}',
            'elementCount': str(self._table.elements),
            'epochSamples': str(self._epoch_samples),
            # The function alone knows how many it has: this says that some are
            # there.
            'validationSamples': str(int(evaluates)),
            'layoutHash': str(self._table.layout_hash()),
            'averageBegin': str(self._table.average_begin),
            'capabilities': {'evaluates': evaluates, 'ranks': self._job.world,
                             'savesInner': True},
            'exportFiles': self._files,
            'tensors': [one.described() for one in self._table.entries],
        }

    def _snapshot(self, body):
        self._table.snapshot(ranges(body, 'ranges'))
        return {}

    def _load(self, body):
        self._table.load(ranges(body, 'ranges'))
        return {}

    def _save_inner(self, body):
        return {'bytes': str(self._inner.save(
            body.get('path', ''), whole(body, 'sequence'),
            whole(body, 'layoutHash'), self._progress))}

    def _load_inner(self, body):
        sequence, position = self._inner.load(body.get('path', ''),
                                              whole(body, 'layoutHash'))
        self._progress = max(self._progress, position)
        self._pace.scale_was_loaded()
        return {'sequence': str(sequence), 'steps': str(self._inner.steps)}

    def _evaluate(self, body):
        if self._evaluate_function is None:
            raise Refused('UNIMPLEMENTED', 'the program does not evaluate')
        samples = whole(body, 'samplesMax')
        with randomness.kept(), _evaluating(self._model), torch.no_grad(), \
                self._stopping():
            found = self._evaluate_function(self._model, samples)
        if not isinstance(found, dict) or set(found) != {'loss', 'samples'}:
            raise ValueError(f'evaluate returned {found!r:.100}, and Skerry '
                             'takes {"loss": ..., "samples": ...}')
        return {'loss': number(found['loss']),
                'samples': str(int(found['samples']))}

    @contextlib.contextmanager
    def _stopping(self):
        """Leaves an evaluation between two batches when it has to stop. With
        several ranks it runs to its end: the others could be in a
        collective."""
        def before_forward(*_):
            if self._page.stop_wanted():
                raise _Stop
        hooks = []
        if self._job.world == 1:
            hooks = [model.register_forward_pre_hook(before_forward)
                     for model in names.by_key(self._model).values()]
        try:
            yield
        except _Stop:
            raise Refused('ABORTED', 'the evaluation was stopped') from None
        finally:
            for hook in hooks:
                hook.remove()

    def _train(self, call):
        """Carries out one Run, yielding its batches."""
        try:
            positions, steps, ahead = self._planned(call.body)
        except Refused as refusal:
            self._refuse(call, refusal.code, str(refusal))
            return
        self._loader.begin([micro for one in steps for micro in one.micros],
                           ahead)
        self._means = Means()
        randomness.seed(self._job.data_seed, positions[0][0], self._job.rank)
        began_s, self._waited_s = time.monotonic(), 0.0
        skipped = 0
        for done, step in enumerate(steps, 1):
            skipped += yield from self._step(step)
            if self._page.stops(done):
                self._refuse(call, 'ABORTED', 'the call was stopped')
                return
        reply = self._means_of(positions)
        # The means were read, so the device has finished.
        compute_s = time.monotonic() - began_s - self._waited_s
        self._driver.answer(call, {
            **reply, 'samples': str(sum(one.samples for one in steps)),
            'innerSteps': str(len(steps)), 'skippedSteps': str(skipped),
            'computeS': compute_s})
        self._words.call = None

    def _step(self, step):
        """Yields the batches of one step. Returns whether it was skipped."""
        self._progress = max(self._progress, step.first)
        self._schedule.move_to(self._progress)
        self._pace.begin()
        self._step_samples = step.samples
        for index, micro in enumerate(step.micros):
            self._micro_samples = ledger.size(micro)
            self._micro_share = self._micro_samples / step.samples
            self._last_micro = index + 1 == len(step.micros)
            asked_s = time.monotonic()
            batch = self._loader.next()
            self._waited_s += time.monotonic() - asked_s
            yield batch
            # A batch in a variable of this frame would stay on the device.
            del batch
            if not self._last_micro:
                self._pace.between()
        skipped = self._pace.end()
        self._steps += 1
        self._inner.steps += 1
        now_s = time.monotonic()
        if now_s - self._noted_s >= _NOTES_APART_S:
            self._noted_s = now_s
            self._driver.note('step', steps=self._steps)
        return skipped

    def _refuse(self, call, code, text):
        self._driver.refuse(call, code, text)
        self._words.call = None

    def _planned(self, body):
        """(positions, steps, micro-batches that probably follow) of a Run."""
        if not self._table.mapped:
            raise Refused('FAILED_PRECONDITION', 'there is no memory yet')
        size = whole(body, 'replicaBatchSamples')
        positions = ranges(body, 'ranges')
        if not size or not positions:
            raise Refused('INVALID_ARGUMENT', 'ranges and replicaBatchSamples: '
                          'a Run needs both')
        try:
            steps = list(self._steps_of(positions, size))
        except ValueError as error:
            raise Refused('INVALID_ARGUMENT', f'ranges: {error}') from error
        upcoming = ledger.Positions(ranges(body, 'upcoming'))
        # A last step that is not whole may become another one.
        certain = upcoming.cut(0, len(upcoming) // size * size)
        ahead = (micro for one in self._steps_of(certain, size)
                 for micro in one.micros)
        return positions, steps, ahead

    def _steps_of(self, positions, step_samples):
        return ledger.steps(positions, step_samples, self._micro_size,
                            self._job.rank, self._job.world,
                            self._micro_batches)

    def _means_of(self, positions):
        """The members of a RunReply that the loop has logged."""
        means = self._means.read()
        if not math.isfinite(means.get('loss', 0.0)):
            where = ', '.join(f'[{begin}, {end})' for begin, end in positions)
            raise FloatingPointError(f'the loss is {means["loss"]} in the '
                                     f'positions {where}')
        rate = self._optimizer.param_groups[0].get('lr')
        if isinstance(rate, (int, float)):
            means.setdefault('learning_rate', rate)
        others = {name: number(value) for name, value in means.items()
                  if name not in _OWN_MEMBERS}
        if len(others) > _METRICS_MAX:
            raise ValueError(f'run.log got {len(others)} metrics; at most '
                             f'{_METRICS_MAX} are allowed')
        return {'noLoss': 'loss' not in means, 'metrics': others,
                **{member: means[name]
                   for name, member in _OWN_MEMBERS.items()
                   # A norm may overflow under AMP, and then says nothing.
                   if math.isfinite(means.get(name, math.nan))}}


def _say_buffers(table):
    """Says on standard error what becomes of the models' buffers."""
    averaged = [one for one in table.entries
                if isinstance(one, state.BufferEntry)]
    if averaged:
        values = sum(one.size for one in averaged)
        print(f'skerry: {len(averaged)} buffers with {values} values are '
              f'averaged over the replicas, {averaged[0].name} first.',
              file=sys.stderr)
    if table.kept:
        name, why = next(iter(table.kept.items()))
        print(f'skerry: {len(table.kept)} buffers stay in each replica and are '
              f'in no checkpoint, {name} first: {why}.', file=sys.stderr)


@contextlib.contextmanager
def _evaluating(models):
    """All modules are in eval() inside, and as they were behind."""
    modes = [(module, module.training)
             for model in names.by_key(models).values()
             for module in model.modules()]
    try:
        for model in names.by_key(models).values():
            model.eval()
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def _exported(files):
    """The messages ExportFile of {name: str or bytes}."""
    found, total = [], 0
    for name, content in files.items():
        if isinstance(content, str):
            content = content.encode()
        if not name or '/' in name or name in ('.', '..'):
            raise ValueError(f'export_files: {name!r} is no plain file name')
        total += len(content)
        found.append({'name': name,
                      'content': base64.b64encode(content).decode()})
    if total > _EXPORT_BYTES_MAX:
        raise ValueError(f'export_files: {total} bytes; at most '
                         f'{_EXPORT_BYTES_MAX} are allowed')
    return found
