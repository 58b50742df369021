"""Memory and open files of the daemons of a cluster over time."""

import math
import os
import statistics
import time

WARM_UP = 0.25  # of the time, which is not judged


def resident_mib(pid, kinds=('VmRSS',)):
    """The resident MiB of a process, or None when it is gone."""
    try:
        with open(f'/proc/{pid}/status', encoding='ascii') as status:
            return sum(int(line.split()[1]) for line in status
                       if line.split(':')[0] in kinds) / 1024 or None
    except OSError:
        return None


def private_mib(pid):
    """The same without pages of files, which the kernel takes in as parts of a
    program run for the first time, and takes away when it needs room."""
    return resident_mib(pid, ('RssAnon', 'RssShmem'))


def open_files(pid):
    """The number of a process's open files, or None when it is gone."""
    try:
        return len(os.listdir(f'/proc/{pid}/fd'))
    except OSError:
        return None


def growth(points):
    """By how much a value grew after the warm-up, by the median slope.

    `points` are (seconds, value). Every pair gives a slope, and their median is
    moved by no single burst. Returns (growth over the judged time, median).
    """
    begin = points[0][0] + WARM_UP * (points[-1][0] - points[0][0])
    judged = [point for point in points if point[0] >= begin]
    slopes = [(b[1] - a[1]) / (b[0] - a[0])
              for i, a in enumerate(judged) for b in judged[i + 1:]
              if b[0] > a[0]]
    seconds = judged[-1][0] - judged[0][0]
    return (statistics.median(slopes) * seconds if slopes else 0.0,
            statistics.median(value for _, value in judged))


class Sizes:
    """Processes measured once, when `age_s` old, or ever again without it.

    A young process is smaller than an old one, so processes that come and go
    are compared at one age.
    """

    def __init__(self, age_s=None):
        self._age_s = age_s
        self._since = {}  # by process; never again once it is measured
        self._points = []

    def see(self, now, sizes):
        """`sizes` by process, None for one that has just gone."""
        for pid, size in sizes.items():
            since = self._since.setdefault(pid, now)
            if size is None or now < since + (self._age_s or 0):
                continue
            self._points.append((now, size))
            if self._age_s is not None:
                self._since[pid] = math.inf

    def growth(self):
        return growth(self._points)


class Rows:
    """A row every so many seconds: the coordinator, and the largest worker.

    Which worker is the largest, and how large, depends on who has just started
    or is joining; whether workers grow is told by their Sizes.
    """

    def __init__(self, cluster, every_s, age_s=None):
        self._sizes = Sizes(age_s)
        self._cluster = cluster
        self._every_s = every_s
        self._started = time.monotonic()
        self._next = self._started
        self._rows = []  # (seconds, coordinator, its files, largest worker)

    def step(self):
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every_s
        coordinator = self._cluster.coordinator.pid
        workers = {worker.daemon.pid: resident_mib(worker.daemon.pid)
                   for worker in self._cluster.workers
                   if worker.daemon.running()}
        self._sizes.see(now - self._started, workers)
        row = (now - self._started, resident_mib(coordinator),
               open_files(coordinator),
               max((size for size in workers.values() if size), default=None))
        if None not in row:
            self._rows.append(row)

    def coordinator(self):
        """Growth of the coordinator after the warm-up, and its size, in MiB."""
        return growth([(row[0], row[1]) for row in self._rows])

    def coordinator_files(self):
        return growth([(row[0], row[2]) for row in self._rows])

    def workers(self):
        """The same of workers."""
        return self._sizes.growth()

    def table(self, lines=12):
        """The rows, thinned out to about `lines`."""
        step = max(1, len(self._rows) // lines)
        text = ['   time   coordinator   its files   largest worker']
        for seconds, coordinator, files, worker in self._rows[::step]:
            text.append(f'{seconds:6.0f} s {coordinator:9.1f} MiB {files:11} '
                        f'{worker:11.1f} MiB')
        return '\n'.join(text)
