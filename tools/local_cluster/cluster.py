"""Coordinator, workers in islands, and the links between the islands."""

import json
import os
import time

from local_cluster import ctl
from local_cluster import relay
from local_cluster.ports import free_port
from local_cluster.processes import Daemon


# A worker that has just started connects within a second.
_CONNECT_S = 10


class Worker:
    """Name, island, process, and admin port if there is one, of a worker."""

    def __init__(self, name, island, daemon, admin_port):
        self.name = name
        self.island = island
        self.daemon = daemon
        self.admin_port = admin_port


class LocalCluster:
    """Everything of one cluster lives in `directory`.

    Workers of an island talk directly; what comes from other islands passes the
    island's emulated link, if it has one.
    """

    def __init__(self, binaries, directory, islands, lease_s=3.0,
                 trainer_threads=1, coordinator_flags=(), admin=False,
                 worker_flags=()):
        self.binaries = binaries
        self._worker_flags = worker_flags
        self.directory = directory
        self.islands = islands
        self.workers = []
        os.makedirs(os.path.join(directory, 'logs'), exist_ok=True)
        os.makedirs(os.path.join(directory, 'run'), exist_ok=True)
        self.coordinator_port = free_port()
        self.coordinator = self._daemon(
            'coordinator', 'skerry-coordinator',
            '--listen', f'127.0.0.1:{self.coordinator_port}',
            '--state', os.path.join(directory, 'coordinator'),
            '--lease', f'{lease_s}s', *coordinator_flags)
        self.ctl = ctl.Ctl(self._binary('skerryctl'),
                           f'127.0.0.1:{self.coordinator_port}')
        self.relay = relay.Relay(self._binary('relay'), directory)
        self._all_met = True
        for island in islands:
            for index in range(island.workers):
                self._add_worker(f'{island.name}{index}', island,
                                 trainer_threads, admin)

    def _add_worker(self, name, island, trainer_threads, admin):
        port = free_port()
        arguments = [
            '--name', name, '--island', island.name,
            '--coordinator', f'127.0.0.1:{self.coordinator_port}',
            '--listen', f'127.0.0.1:{port}',
            '--state', self.state_of(name),
            '--run-dir', os.path.join(self.directory, 'run'),
            '--trainer-threads', str(trainer_threads)]
        if island.rate_mbit_s:
            link = free_port()
            self.relay.add(island, name, link, port)
            arguments += ['--advertise', f'127.0.0.1:{link}']
        admin_port = free_port() if admin else None
        if admin:
            arguments += ['--admin', f'127.0.0.1:{admin_port}']
        arguments += [*self._worker_flags, *island.flags]
        self.workers.append(Worker(name, island.name, self._daemon(
            name, 'skerry-worker', *arguments), admin_port))

    def state_of(self, name):
        """The state folder of the worker."""
        return os.path.join(self.directory, 'workers', name)

    def _binary(self, name):
        return os.path.join(self.binaries, name)

    def _daemon(self, name, program, *arguments):
        return Daemon(name, [self._binary(program), *arguments],
                      os.path.join(self.directory, 'logs', name + '.log'))

    def daemons(self):
        return [self.coordinator, *(w.daemon for w in self.workers)]

    def worker(self, name):
        return next(w for w in self.workers if w.name == name)

    def start(self):
        self.relay.start()
        for daemon in self.daemons():
            daemon.start()
        self._all_met = False

    def supervise(self):
        """Starts again what has died, as systemd or Kubernetes would.

        Returns the names of what was started.
        """
        started = []
        for daemon in self.daemons():
            if daemon.starts > 0 and not daemon.running():
                daemon.start()
                started.append(daemon.name)
        return started

    def set_rate(self, island, mbit_s):
        """From now on, the rate of the emulated link to an island."""
        self.relay.set_rate(island, mbit_s)

    def stop(self):
        for worker in self.workers:
            worker.daemon.kill()
        self.coordinator.terminate(5)
        self.relay.stop()

    def submit(self, spec):
        """Submits a job given as the content of a job file.

        What submit accepts depends on the workers that are there, so the first
        job after a start waits for all that were started.
        """
        if not self._all_met:
            self._all_met = True
            self._await_workers()
        path = os.path.join(self.directory, spec['name'] + '.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            # JSON is YAML.
            json.dump(spec, file, indent=2)
        self.retry('submit', '-f', path)

    def _await_workers(self):
        deadline = time.monotonic() + _CONNECT_S
        while time.monotonic() < deadline:
            connected = self.retry('get', 'workers', '-l', 'state=connected',
                                   '-o', 'name').decode().split()
            if {worker.name for worker in self.workers} <= set(connected):
                return
            time.sleep(0.05)

    def retry(self, *arguments, tries=100):
        """skerryctl, again while the coordinator is away."""
        for left in reversed(range(tries)):
            try:
                return self.ctl.run(*arguments)
            except ctl.CtlError as error:
                if error.code != ctl.UNAVAILABLE or left == 0:
                    raise
            time.sleep(0.1)
        return b''
