"""What the daemons of a cluster take of their machine at one moment."""

import os

from local_cluster.processes import children_of

import memory

_SHARED = '/dev/shm'
_PREFIX = 'skerry-'
# A job's results lie on the disk until they are as large as a base together,
# which is then stored in their place (docs/formats/worker_store.md).
_RESULT = 'result-'


def folders_of(state):
    """The jobs' folders, and their marks, of a worker's state folder."""
    try:
        return sorted(os.listdir(os.path.join(state, 'jobs')))
    except FileNotFoundError:
        return []


def bytes_in(folder, without=()):
    """The size of all files below `folder`, except those removed meanwhile and
    those whose names begin with one of `without`."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith(tuple(without)):
                continue
            try:
                total += os.path.getsize(os.path.join(path, name))
            except OSError:
                continue
    return total


def segments_of(workers, pids):
    """Shared memory of Skerry that the processes `pids` have mapped, also when
    its name is gone, and names that are left of what the processes `workers`
    have made. Other clusters of this machine have names there as well."""
    found = set()
    for pid in pids:
        try:
            with open(f'/proc/{pid}/maps', encoding='ascii',
                      errors='replace') as maps:
                found.update(line.split(maxsplit=5)[5].split()[0]
                             for line in maps
                             if f'{_SHARED}/{_PREFIX}' in line)
        except OSError:
            continue
    try:
        left = {os.path.join(_SHARED, name) for name in os.listdir(_SHARED)
                if name.startswith(_PREFIX)
                and any(f'-{pid}-' in name for pid in workers)}
    except FileNotFoundError:
        left = set()
    return found | left


class Footprint:
    """What the coordinator and all workers with their trainers take.

    The resident MiB are those of the daemons alone, because the size of a
    trainer depends on its job. Those without pages of files are counted beside
    them.
    """

    def __init__(self, cluster):
        coordinator = cluster.coordinator.pid
        workers = [worker.daemon.pid for worker in cluster.workers]
        trainers = [child for pid in workers for child in children_of(pid)]
        everyone = [coordinator, *workers, *trainers]
        self.processes = len(everyone)
        self.coordinator_mib = memory.resident_mib(coordinator)
        self.coordinator_private_mib = memory.private_mib(coordinator)
        self.worker_mib = sum(memory.resident_mib(pid) for pid in workers)
        self.worker_private_mib = sum(memory.private_mib(pid)
                                      for pid in workers)
        self.descriptors = sum(memory.open_files(pid) or 0 for pid in everyone)
        self.segments = len(segments_of(workers, everyone))
        states = [cluster.state_of(worker.name) for worker in cluster.workers]
        self.folders = sum(len(folders_of(state)) for state in states)
        self.disk_bytes = sum(bytes_in(state) for state in states)
        # On each worker's disk, without what comes and goes with the rounds of
        # an unfinished job.
        self.kept_bytes = [bytes_in(state, (_RESULT,)) for state in states]

    def __str__(self):
        return (f'{self.processes} processes, coordinator '
                f'{self.coordinator_mib:.1f} MiB '
                f'({self.coordinator_private_mib:.1f} without files), workers '
                f'{self.worker_mib:.1f} MiB ({self.worker_private_mib:.1f}), '
                f'{self.descriptors} descriptors, '
                f'{self.segments} shared segments, {self.folders} folders of '
                f'jobs with {self.disk_bytes / 1e6:.3f} MB '
                f'({sum(self.kept_bytes) / 1e6:.3f} without results)')
