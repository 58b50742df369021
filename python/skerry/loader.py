"""Loads the batches that a rank trains on: one DataLoader for the whole job."""

import ctypes
import itertools
import os
import signal

import torch.utils.data

from skerry import ledger

_PR_SET_PDEATHSIG = 1
# The ledger decides what these would say.
_DECIDED = ('shuffle', 'sampler', 'batch_sampler', 'drop_last', 'in_order')


class _Bubble:
    """What stands for a batch that nobody asked for."""


class _Collate:
    """Makes a bubble of no samples, and a batch of others."""

    def __init__(self, collate):
        self._collate = collate

    def __call__(self, samples):
        return self._collate(samples) if samples else _Bubble()


class _Items(torch.utils.data.Dataset):
    """A data set that gives several samples at once, or none."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __getitems__(self, indices):
        return self._dataset.__getitems__(indices) if indices else []


class _Between(torch.utils.data.Dataset):
    """The samples that a function (begin, end) -> iterable yields."""

    def __init__(self, function):
        self._function = function

    def __getitems__(self, ranges):
        found = []
        for begin, end in ranges:
            some = list(itertools.islice(self._function(begin, end),
                                         end - begin + 1))
            if len(some) != end - begin:
                more = 'more' if len(some) > end - begin else len(some)
                raise ValueError(f'the data function yields {more} samples '
                                 f'for the positions [{begin}, {end})')
            found += some
        return found


class _Child:
    """Makes a loader process end with the rank that started it."""

    def __init__(self, then):
        self._rank, self._then = os.getpid(), then

    def __call__(self, worker):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._rank:
            os._exit(1)  # The rank ended before this process could know.
        if self._then is not None:
            self._then(worker)


class _Asked:
    """The batch sampler: lists of samples, as the feed has them. Without an
    order they are lists of ranges of positions."""

    def __init__(self, feed, order):
        self._feed, self._order = feed, order

    def __iter__(self):
        while True:
            micro = self._feed.ask()
            yield list(micro) if self._order is None else [
                sample for begin, end in micro
                for sample in self._order.indices(begin, end)]


def check(dataset, options):
    """The number of samples in `dataset`; None for a function, which does not
    say. Raises TypeError or ValueError when the ledger cannot hand it out."""
    for name in _DECIDED:
        if name in options:
            raise TypeError(f'run.batches takes no {name}: Skerry decides '
                            'which samples come, and in which order')
    if callable(dataset) and not hasattr(dataset, '__getitem__'):
        return None
    if (isinstance(dataset, torch.utils.data.IterableDataset)
            or not hasattr(dataset, '__len__')
            or not hasattr(dataset, '__getitem__')):
        raise TypeError('run.batches takes a data set with len() and [index]: '
                        f'a {type(dataset).__name__} cannot be entered at any '
                        'sample; give a function (begin, end) that yields the '
                        'samples at these positions of the run')
    if not len(dataset):
        raise ValueError('run.batches got a data set without samples')
    return len(dataset)


class Loader:
    """Fetches micro-batches in the order of a feed.

    order: the ledger.SampleOrder of `dataset`; None: `dataset` is a function
    (begin, end) of positions.
    Its processes live as long as it does. Other arguments are those of
    torch.utils.data.DataLoader.
    """

    def __init__(self, dataset, order, num_workers=0, collate_fn=None,
                 worker_init_fn=None, generator=None, **options):
        self._feed = ledger.Feed()
        if order is None:
            dataset = _Between(dataset)
        elif hasattr(dataset, '__getitems__'):
            dataset = _Items(dataset)
        if generator is None:
            # Otherwise DataLoader draws from the loop's own generator.
            generator = torch.Generator()
            generator.manual_seed(0)
        self._loader = torch.utils.data.DataLoader(
            dataset, batch_sampler=_Asked(self._feed, order),
            num_workers=num_workers, generator=generator,
            collate_fn=_Collate(collate_fn
                                or torch.utils.data.default_collate),
            worker_init_fn=_Child(worker_init_fn) if num_workers else None,
            **options)
        self._batches = None

    def begin(self, micros, ahead=()):
        """The next batches are `micros`, and after them probably those that
        `ahead` yields."""
        self._feed.begin(micros, ahead)

    def next(self):
        """The next batch of those that the last `begin` named."""
        if self._batches is None:
            self._batches = iter(self._loader)
        while True:
            batch = next(self._batches)
            _, wanted = self._feed.given()
            if wanted:
                return batch

    def close(self):
        """Ends the loader's processes."""
        self._batches = None
