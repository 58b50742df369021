"""What the shells take from a DataLoader that its owner has made, and how its
batches fit the steps of a job."""

import sys

# What run.batches passes on. Skerry decides the order, so samplers stay behind.
_OPTIONS = ('num_workers', 'collate_fn', 'pin_memory', 'timeout',
            'worker_init_fn', 'multiprocessing_context', 'prefetch_factor',
            'persistent_workers', 'pin_memory_device')


def options_of(loader):
    """The arguments of run.batches that make batches like those of `loader`, a
    torch.utils.data.DataLoader."""
    found = {name: getattr(loader, name) for name in _OPTIONS
             if hasattr(loader, name)}
    if not found.get('num_workers'):
        # DataLoader has values for these that it does not take.
        for name in ('prefetch_factor', 'multiprocessing_context', 'timeout'):
            found.pop(name, None)
    return found


def check_steps(job, owner, processes, micro_samples, micro_batches):
    """Raises ValueError when a step of `job` is not `micro_batches` batches of
    `micro_samples` samples in each of `processes`. `owner` says whose they
    are."""
    if processes != job.world:
        raise ValueError(f'{owner} has {processes} processes, and '
                         f'skerry-attach has started {job.world}: --ranks of '
                         'skerry-worker says how many')
    step = micro_samples * micro_batches * processes
    if step != job.batch_samples:
        raise ValueError(
            f'{owner} takes {micro_samples} samples x {micro_batches} batches '
            f'x {processes} processes = {step} samples a step, and the job '
            f'says training.batch_samples: {job.batch_samples}')
    last = job.samples % step
    if 0 < last < micro_batches * processes:
        raise ValueError(
            f'training.samples: the last step would have {last} samples for '
            f'{micro_batches} batches in each of {processes} processes; let '
            f'training.samples be a multiple of {step}')


def steps_of(job):
    """The steps of the whole run, as one replica counts them."""
    return max(1, -(-job.samples // max(1, job.batch_samples)))


def say(words):
    """Tells the user what a shell has changed."""
    print(f'skerry: {words}', file=sys.stderr)
