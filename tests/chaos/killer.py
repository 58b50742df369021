"""Chooses victims and moments, kills, and measures how the job goes on."""

import collections
import os
import signal
import time

import phases
from local_cluster import logs

Kill = collections.namedtuple('Kill', 'victim phase reopen_ms commit_ms ended')

# How long a victim is watched for the phase it shall die in.
_AIM_S = 6.0
# Without an exchange that opened after the kill and was committed for so long,
# the job does not go on. Two leases and a round, and the machine's load.
_STUCK_S = 20.0
_RESTART_S_MAX = 0.4
_VICTIMS = ('worker', 'trainer', 'coordinator')
_WEIGHTS = (4, 4, 2)


class Killer:
    """kill -9, one process at a time; each is started again."""

    def __init__(self, cluster, random):
        self._cluster = cluster
        self._random = random
        self.hits = collections.Counter()

    def kill(self, stream, aimed, is_late):
        """One kill, followed until the job has committed again or has ended.

        None when the job has ended before the victim took part again, or when
        `is_late()` once its moment has come.
        """
        kind = self._random.choices(_VICTIMS, _WEIGHTS)[0]
        worker = self._random.choice(self._cluster.workers)
        wanted = (self._random.choice(phases.least_hit(self.hits)) if aimed
                  else None)
        pause = self._random.uniform(0, 1.5)
        restart_after = self._random.uniform(0, _RESTART_S_MAX)
        if not self._await_seat(stream, worker):
            return None
        if wanted:
            self._await_phase(worker, wanted)
        else:
            time.sleep(pause)
        if is_late():
            return None
        wall, started = time.time(), time.monotonic()
        known = stream.newest()
        victim = self._strike(kind, worker)
        phase = phases.at(logs.read(worker.daemon.log_path), wall)
        self.hits[phase] += 1
        return self._measure(stream, f'{kind} {victim}', phase, started,
                             known, restart_after)

    def _await_seat(self, stream, worker):
        """Until the worker takes part again after an earlier kill.

        False once the job has ended.
        """
        deadline = time.monotonic() + _STUCK_S
        while time.monotonic() < deadline:
            if stream.ended():
                return False
            self._cluster.supervise()
            entries = logs.read(worker.daemon.log_path)
            if (phases.trainer_pid(entries)
                    and phases.at(entries, time.time()) in phases.ALL):
                return True
            time.sleep(0.05)
        raise RuntimeError(f'{worker.name} does not come back into the job')

    def _await_phase(self, worker, wanted):
        deadline = time.monotonic() + _AIM_S
        with logs.Tail(worker.daemon.log_path) as tail:
            while True:
                entry = tail.next_until(deadline)
                if entry is None or phases.of_entry(entry) == wanted:
                    return

    def _strike(self, kind, worker):
        if kind == 'coordinator':
            self._cluster.coordinator.kill()
            return 'coordinator'
        pid = phases.trainer_pid(logs.read(worker.daemon.log_path))
        if kind == 'trainer' and pid:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it died by itself; the worker has not said so yet
            return f'of {worker.name}'
        worker.daemon.kill()
        return worker.name

    def _measure(self, stream, victim, phase, started, known,
                 restart_after):
        def meanwhile():
            if time.monotonic() >= started + restart_after:
                self._cluster.supervise()

        deadline = started + _STUCK_S
        opened = stream.first('ExchangeOpened', known, deadline, meanwhile)
        # What was under way at the kill proves nothing.
        committed = opened and stream.first(
            'Committed', int(opened[1]['revision']), deadline, meanwhile)
        while time.monotonic() < started + restart_after:
            time.sleep(0.01)
        self._cluster.supervise()
        milliseconds = [found and (found[0] - started) * 1000
                        for found in (opened, committed)]
        return Kill(victim, phase, *milliseconds, stream.ended())
