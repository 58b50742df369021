"""A cluster whose every site is a network of its own: a coordinator and islands
that join it with tokens, over TCP and TLS."""

import os
import re
import subprocess

from local_cluster import ctl
from local_cluster.cluster import LocalCluster, Worker
from local_cluster.islands import Reached
from local_cluster.processes import Daemon

_PORT, _BULK_PORT = 7443, 7444
_HQ = 'hq'


class HostCtl(ctl.Ctl):
    """skerryctl on a host, with a home of its own."""

    def __init__(self, host, binary, home):
        super().__init__(binary, '')
        os.makedirs(home, exist_ok=True)
        self._home = home
        self._command = host.command(['env', f'HOME={home}',
                                      'XDG_CONFIG_HOME=', binary])

    def take(self, bundle):
        """Takes an operator's bundle into use. Returns the folder of the
        certificate and the key."""
        self.run('config', 'import', bundle)
        kept = os.path.join(self._home, '.config', 'skerry', 'identities')
        return os.path.join(kept, os.listdir(kept)[0])


class Apart(LocalCluster):
    """The coordinator is at the site hq, and every island has a site.

    Workers of an island share a host. Its rate bounds what passes between its
    site and the others.
    """

    def __init__(self, programs, directory, network, islands, lease_s=3.0,
                 worker_flags=()):
        super().__init__(programs, directory, [], worker_flags=worker_flags)
        self.islands = islands
        self.sites = {_HQ: network.site(_HQ, rate_mbit_s=max(
            island.rate_mbit_s for island in islands))}
        for island in islands:
            self.sites[island.name] = network.site(
                island.name, nat=island.reached is not Reached.DIALLED,
                rate_mbit_s=island.rate_mbit_s)
        self.hosts = {name: site.host(f'{name}0')
                      for name, site in self.sites.items()}
        self.state = os.path.join(directory, 'coordinator')
        self.address = f'{self.hosts[_HQ].address}:{_PORT}'
        self.coordinator = self._coordinator(lease_s)
        self.ctl = self.ctl_of('home')

    def ctl_of(self, home):
        """skerryctl beside the coordinator, for who has this home."""
        return HostCtl(self.hosts[_HQ], self._binary('skerryctl'),
                       os.path.join(self.directory, home))

    def _coordinator(self, lease_s):
        return self._on(_HQ, 'coordinator', 'skerry-coordinator',
                        '--listen', f'0.0.0.0:{_PORT}', '--state', self.state,
                        '--lease', f'{lease_s}s')

    def change_lease(self, lease_s):
        self.coordinator.terminate(10)
        self.coordinator = self._coordinator(lease_s)
        self.coordinator.start()

    def _on(self, site, name, program, *arguments):
        return Daemon(name, self.hosts[site].command(
            [self._binary(program), *arguments]),
                      os.path.join(self.directory, 'logs', name + '.log'))

    def make(self):
        """The cluster's CA and first operator. Returns the pin of the CA."""
        done = subprocess.run(
            [self._binary('skerry-coordinator'), 'init', '--cluster', 'lab',
             '--state', self.state, '--advertise', self.address],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=True)
        self.ctl.take(os.path.join(self.state, 'admin.yaml'))
        self.coordinator.start()
        self.retry('get', 'jobs')
        return re.search(r'sha256:[0-9a-f]{64}', done.stdout).group()

    def operator(self, name, role):
        """Lets an operator in; returns the folder of the certificate."""
        bundle = os.path.join(self.directory, f'{name}.yaml')
        self.ctl.run('operator', 'create', name, '--role', role, '--out',
                     bundle)
        return self.ctl_of(f'home-{name}').take(bundle)

    def bulk_address(self, site, index=0):
        """Where others reach a worker of the site's island."""
        forwarded = any(island.reached is Reached.FORWARDED
                        for island in self.islands if island.name == site)
        at = (self.sites[site].public_address if forwarded
              else self.hosts[site].address)
        return f'{at}:{_BULK_PORT + index}'

    def admit(self, island, pin):
        """Starts the workers of an island of this cluster."""
        for index in range(island.workers):
            port = _BULK_PORT + index
            if island.reached is Reached.FORWARDED:
                self.sites[island.name].forward(port, self.hosts[island.name])
            self.join(island.name, f'{island.name}{index}', pin, island.name,
                      ['--outbound-only'] if island.reached is Reached.REVERSE
                      else ['--listen', f'0.0.0.0:{port}', '--advertise',
                            self.bulk_address(island.name, index)])

    def join(self, island, name, pin, site, flags):
        """Starts a worker that joins with a token of its own."""
        token = re.search(
            r'[a-z0-9]{6}\.[a-z0-9]{16}',
            self.retry('token', 'create', '--island', island).decode()).group()
        path = os.path.join(self.directory, f'token-{name}')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(token)
        daemon = self._on(
            site, name, 'skerry-worker', '--name', name, '--island', island,
            '--coordinator', self.address, '--ca-pin', pin,
            '--join-token-file', path, *flags,
            '--state', self.state_of(name),
            '--run-dir', os.path.join(self.directory, 'run', name),
            '--trainer-threads', '1', *self._worker_flags)
        os.makedirs(os.path.join(self.directory, 'run', name))
        self.workers.append(Worker(name, island, daemon, None))
        daemon.start()

    def set_rate(self, island, mbit_s):
        self.sites[island].set_rate(mbit_s)

    def views(self):
        """What the coordinator says of each worker, by name."""
        return {view['worker']: view for view in
                self.ctl.json('get', 'workers')['workers']}

    def connected(self):
        return set(self.ctl.run('get', 'workers', '-l', 'state=connected',
                                '-o', 'name').decode().split())

    def silence_s(self):
        """How long the coordinator has not heard the quietest worker."""
        views = self.views()
        return max(int(views[worker.name]['silence_ms']) / 1000
                   for worker in self.workers)

    def round_trip_ms(self, a, b):
        """The time that a connection from a host of site `a` takes to open."""
        script = ('import socket, sys, time\n'
                  'began = time.monotonic()\n'
                  'socket.create_connection((sys.argv[1], int(sys.argv[2])))\n'
                  'print((time.monotonic() - began) * 1000)')
        host, port = (self.address if b == _HQ
                      else self.bulk_address(b)).split(':')
        return min(float(subprocess.run(
            self.hosts[a].command(['python3', '-c', script, host, port]),
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=True).stdout) for _ in range(3))
