"""Child processes that never outlive this one, with their logs."""

import ctypes
import os
import signal
import subprocess

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def die_with_parent():
    """For a child, before it runs its program."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Daemon:
    """One program that can be killed and started again."""

    def __init__(self, name, argv, log_path, environment=None):
        self.name = name
        self.argv = argv
        self.log_path = log_path
        self.environment = environment or {}
        self.cpu_share = None  # a cpu_share.CpuShare that works
        self.directory = None  # where it runs; None: where this process does
        self.starts = 0
        self._process = None

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """Starts the program; its output is appended to the log."""
        self.starts += 1
        with open(self.log_path, 'ab') as log:
            self._process = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.environment}, cwd=self.directory,
                preexec_fn=self._before_program)

    def _before_program(self):
        die_with_parent()
        if self.cpu_share:
            self.cpu_share.enter()

    def exit_code(self):
        """None while it runs; negative for a signal."""
        return self._process.poll() if self._process else None

    def running(self):
        return self._process is not None and self._process.poll() is None

    def kill(self):
        """kill -9, and waits until the kernel has taken it."""
        if self.running():
            self._process.kill()
        if self._process:
            self._process.wait()

    def terminate(self, timeout_s):
        """SIGTERM, then after `timeout_s` SIGKILL. Returns the exit code."""
        if self.running():
            self._process.terminate()
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.returncode if self._process else None

    def tail(self, lines=15):
        """The last lines of the log."""
        try:
            with open(self.log_path, encoding='utf-8', errors='replace') as log:
                return ''.join(log.readlines()[-lines:])
        except OSError:
            return ''


def children_of(pid):
    """Process ids whose parent is `pid`."""
    found = []
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{task}/children',
                      encoding='ascii') as children:
                found.extend(int(child) for child in children.read().split())
        except OSError:
            continue
    return found
