"""Sends strangers to a cluster and watches what its daemons spend meanwhile."""

import json
import os
import re
import subprocess
import sys
import threading
import time

from local_cluster import logs
from local_cluster.binaries import ROOT
from local_cluster.processes import die_with_parent

_TOOLS = os.path.join(ROOT, 'tools')
_POLL_S = 0.05
# What a daemon says of refused strangers, and where it counts those that get no
# line of their own.
_COUNTED = {'transport.handshake.failed': 'more_failed',
            'transport.call.refused': 'more_refused',
            'worker.frame.refused': 'more_refused'}


def forbidden(kind):
    """The methods that docs/security.md does not let this kind call."""
    with open(os.path.join(ROOT, 'docs', 'security.md'),
              encoding='utf-8') as file:
        rows = re.findall(r'^\| `(/[\w./]+)` \| ([\w, ]+) \|', file.read(),
                          re.MULTILINE)
    return [method for method, kinds in rows if kind not in kinds.split(', ')]


def processor_s():
    """What all processes that are seen here have used, and those that they
    have outlived: with namespaces, the cluster and those who come to it."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8',
                      errors='replace') as file:
                # utime, stime, cutime and cstime of proc(5).
                fields = file.read().rpartition(')')[2].split()[11:15]
        except OSError:  # it has just ended
            continue
        ticks += sum(map(int, fields))
    return ticks / os.sysconf('SC_CLK_TCK')


class Strangers:
    """A process of a host that is nobody's; see strangers.py for the plan."""

    def __init__(self, host):
        self._host = host

    def come(self, plan):
        """({kind: what it sent and got}, processor time) once all have come."""
        done = subprocess.run(
            self._host.command([
                'env', f'PYTHONPATH={_TOOLS}', sys.executable, '-B', '-m',
                'local_cluster.strangers']),
            input=json.dumps(plan), capture_output=True, text=True,
            timeout=120, check=False, preexec_fn=die_with_parent)
        if done.returncode != 0:
            raise RuntimeError(f'strangers: {done.stderr.strip()[-2000:]}')
        came = json.loads(done.stdout)
        return came['kinds'], came['cpu_s']


class Watch:
    """What some daemons spend, from its beginning to stop()."""

    def __init__(self, daemons):
        self._daemons = daemons
        self._logs = {daemon: os.path.getsize(daemon.log_path)
                      for daemon in daemons}
        self.peak = self.now()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def now(self):
        """{name: (MiB of memory, descriptors)}"""
        found = {}
        for daemon in self._daemons:
            with open(f'/proc/{daemon.pid}/status', encoding='ascii') as file:
                memory = re.search(r'VmRSS:\s+(\d+)', file.read()).group(1)
            found[daemon.name] = (round(int(memory) / 1024),
                                  len(os.listdir(f'/proc/{daemon.pid}/fd')))
        return found

    def _look(self):
        while not self._ends.wait(_POLL_S):
            for name, spent in self.now().items():
                self.peak[name] = tuple(map(max, spent, self.peak[name]))

    def stop(self):
        self._ends.set()
        self._thread.join()

    def logged(self):
        """(bytes that the logs have grown by, {event: lines},
        {event: how many refusals the lines stand for})"""
        size, lines, counted = 0, {}, {}
        for daemon, began in self._logs.items():
            with open(daemon.log_path, 'rb') as file:
                file.seek(began)
                grown = file.read()
            size += len(grown)
            for entry in filter(None, map(
                    logs.parse, grown.decode('utf-8', 'replace').splitlines())):
                more = _COUNTED.get(entry['event'])
                if more:
                    event = entry['event']
                    lines[event] = lines.get(event, 0) + 1
                    counted[event] = (counted.get(event, 0) + 1
                                      + int(entry[more]))
        return size, lines, counted


def settles(good, wait_s):
    """Seconds until good(), or None."""
    began = time.monotonic()
    while time.monotonic() < began + wait_s:
        if good():
            return time.monotonic() - began
        time.sleep(_POLL_S)
    return None
