"""Memory of the daemons of a cluster over time."""

import time


def resident_mib(pid):
    """Of a process, or None when it is gone."""
    try:
        with open(f'/proc/{pid}/status', encoding='ascii') as status:
            for line in status:
                if line.startswith('VmRSS:'):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


class Rows:
    """A row every so many seconds: the coordinator, and the largest worker."""

    def __init__(self, cluster, every_s):
        self._cluster = cluster
        self._every_s = every_s
        self._started = time.monotonic()
        self._next = self._started
        self._rows = []  # (seconds, coordinator, largest worker), MiB

    def step(self):
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every_s
        workers = [resident_mib(worker.daemon.pid)
                   for worker in self._cluster.workers
                   if worker.daemon.running()]
        self._rows.append((now - self._started,
                           resident_mib(self._cluster.coordinator.pid) or 0.0,
                           max((w for w in workers if w), default=0.0)))

    def coordinator_halves(self, mean):
        """MiB in the second quarter of the time and in the last one."""
        quarter = max(1, len(self._rows) // 4)
        values = [row[1] for row in self._rows]
        return mean(values[quarter:2 * quarter] or values), mean(
            values[-quarter:])

    def table(self, lines=12):
        """The rows, thinned out to about `lines`."""
        step = max(1, len(self._rows) // lines)
        text = ['   time   coordinator   largest worker']
        for seconds, coordinator, worker in self._rows[::step]:
            text.append(f'{seconds:6.0f} s {coordinator:9.1f} MiB '
                        f'{worker:11.1f} MiB')
        return '\n'.join(text)
