"""Gives a process and its children a part of a core and not more.

Without it, what a killed process leaves unused goes to the others, and a
cluster whose processes share the machine's cores loses nothing by a death.
"""

import os

_PERIOD_US = 20_000
# cgroup v1 with its own cpu hierarchy, then v2.
_ROOTS = (('/sys/fs/cgroup/cpu', 'cpu.cfs_quota_us'),
          ('/sys/fs/cgroup', 'cpu.max'))


class CpuShare:
    """At most `cores` of CPU time for what enters it."""

    def __init__(self, name, cores):
        self._folder = None
        for root, file in _ROOTS:
            folder = os.path.join(root, f'skerry-{os.getpid()}-{name}')
            try:
                os.mkdir(folder)
            except OSError:
                continue
            try:
                self._limit(folder, file, int(cores * _PERIOD_US))
                self._folder = folder
                return
            except OSError:
                os.rmdir(folder)

    @staticmethod
    def _limit(folder, file, quota_us):
        if file == 'cpu.max':
            lines = ((file, f'{quota_us} {_PERIOD_US}'),)
        else:
            lines = (('cpu.cfs_period_us', _PERIOD_US), (file, quota_us))
        for name, value in lines:
            with open(os.path.join(folder, name), 'w',
                      encoding='ascii') as out:
                out.write(str(value))

    def works(self):
        """False where the machine lets nobody limit processes."""
        return self._folder is not None

    def enter(self):
        """The calling process and those it starts are limited from now on."""
        with open(os.path.join(self._folder, 'cgroup.procs'), 'w',
                  encoding='ascii') as out:
            out.write(str(os.getpid()))

    def remove(self):
        """Once every process in it has ended."""
        if self._folder:
            try:
                os.rmdir(self._folder)
            except OSError:
                pass
            self._folder = None
