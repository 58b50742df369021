"""Sites of hosts with networks of their own, on one machine.

Every host is a network namespace. Hosts of a site share a router, and routers
meet in a core. A site may be behind a NAT, so that nobody can open a connection
to its hosts, and its way out may have a rate. The names of the namespaces are
seen by the processes of one suite alone, and all of them end with it.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from local_cluster import packet_delay
from local_cluster.processes import die_with_parent

_INSIDE = 'SKERRY_SITES'
# Names a folder of programs that are removed at the end.
_BUILT = 'SKERRY_SITES_BUILT'
_NEEDED = ('ip', 'nft', 'tc', 'unshare', 'mount')
_CORE = 'core'


class NotToBeHad(Exception):
    """Why there are no sites here."""


def inside():
    """Whether this process is where it may make networks."""
    return bool(os.environ.get(_INSIDE))


def require():
    """Raises NotToBeHad where the kernel or a missing program stands in the
    way of networks."""
    if inside():
        return
    missing = [name for name in _NEEDED if not _has(name)]
    if missing:
        raise NotToBeHad(f"there is no {' and no '.join(missing)}")
    tried = subprocess.run([*_wrapper(), 'true'], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise NotToBeHad(f'no network namespaces: {tried.stderr.strip()}')


@contextlib.contextmanager
def entered(programs, build):
    """Runs this script again where it may make networks; gives the Sites there.

    A build tool cannot reach its server from there. So where `programs` names
    no folder, `build(folder)` makes the programs before, and the script gets
    the argument --programs.
    """
    if not inside():
        more = []
        if not programs:
            os.environ[_BUILT] = tempfile.mkdtemp(prefix='skerry-programs-')
            more = ['--programs', build(os.environ[_BUILT])]
        sys.stdout.flush()
        os.environ[_INSIDE] = '1'
        wrapper = _wrapper()
        os.execvp(wrapper[0], [*wrapper, sys.executable, *sys.argv, *more])
    _run('mount', '-t', 'tmpfs', 'tmpfs', '/run')
    os.mkdir('/run/netns')
    _run('ip', 'link', 'set', 'lo', 'up')
    try:
        yield Sites()
    finally:
        if os.environ.get(_BUILT):
            shutil.rmtree(os.environ[_BUILT], ignore_errors=True)


def _wrapper():
    wrapper = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child',
               '--mount-proc']
    if os.getuid() != 0:
        wrapper += ['--user', '--map-root-user']
    return wrapper


def _has(program):
    return any(os.access(os.path.join(folder, program), os.X_OK)
               for folder in os.get_exec_path() + ['/usr/sbin', '/sbin'])


def _run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          check=False,
                          env={**os.environ,
                               'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def _in(space, *command, text=None):
    _run('ip', 'netns', 'exec', space, *command, text=text)


def _space(name):
    _run('ip', 'netns', 'add', name)
    _in(name, 'ip', 'link', 'set', 'lo', 'up')
    _in(name, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')


def _join(space_a, name_a, address_a, space_b, name_b, address_b):
    """A cable between two namespaces, with an address at each end."""
    _run('ip', 'link', 'add', 'end-a', 'type', 'veth', 'peer', 'name', 'end-b')
    for end, space, name, address in (('end-a', space_a, name_a, address_a),
                                      ('end-b', space_b, name_b, address_b)):
        _run('ip', 'link', 'set', 'dev', end, 'netns', space, 'name', name)
        if address:
            _in(space, 'ip', 'address', 'add', address, 'dev', name)
        _in(space, 'ip', 'link', 'set', 'dev', name, 'up')


class Host:
    """Where processes run; `command` starts programs there.

    With `own_memory` each program sees a /dev/shm of its own.
    """

    def __init__(self, space, address, own_memory=False):
        self.space = space
        self.address = address
        self._own_memory = own_memory

    def command(self, argv):
        # ip gives each program mounts of its own.
        mount = ['sh', '-c', 'mount -t tmpfs tmpfs /dev/shm && exec "$@"',
                 'sh'] if self._own_memory else []
        return ['ip', 'netns', 'exec', self.space, *mount, *argv]

    def drop(self, other):
        """Drops all that comes from the other host and goes to it."""
        _in(self.space, 'nft', '-f', '-', text=(
            'table ip apart {\n'
            ' chain in { type filter hook input priority 0;\n'
            f'  ip saddr {other.address} drop\n }}\n'
            ' chain out { type filter hook output priority 0;\n'
            f'  ip daddr {other.address} drop\n }}\n}}\n'))

    def allow(self):
        """Takes back drop()."""
        _in(self.space, 'nft', 'delete', 'table', 'ip', 'apart')


class Site:
    """A router with its hosts."""

    def __init__(self, name, number, nat, rate_mbit_s):
        self.name, self._number, self._hosts = name, number, 0
        self._router = f'{name}-router'
        _space(self._router)
        _in(self._router, 'ip', 'link', 'add', 'lan', 'type', 'bridge')
        _in(self._router, 'ip', 'address', 'add', f'10.{number}.0.1/24',
            'dev', 'lan')
        _in(self._router, 'ip', 'link', 'set', 'lan', 'up')
        _join(self._router, 'wan', f'10.255.{number}.2/30',
              _CORE, name, f'10.255.{number}.1/30')
        _in(self._router, 'ip', 'route', 'add', 'default', 'via',
            f'10.255.{number}.1')
        if nat:
            _in(self._router, 'nft', '-f', '-', text=(
                'table ip wall {\n'
                ' chain out { type nat hook postrouting priority 100;\n'
                '  oifname "wan" masquerade\n }\n'
                ' chain through { type filter hook forward priority 0;\n'
                '  ct state established,related accept\n'
                '  iifname "wan" drop\n }\n}\n'))
        else:
            _in(_CORE, 'ip', 'route', 'add', f'10.{number}.0.0/24', 'via',
                f'10.255.{number}.2')
        if rate_mbit_s:
            self.set_rate(rate_mbit_s)

    def set_rate(self, mbit_s):
        """Bounds what passes between the site and the others, each way."""
        for space, device in ((self._router, 'wan'), (_CORE, self.name)):
            _in(space, 'tc', 'qdisc', 'replace', 'dev', device, 'root', 'tbf',
                'rate', f'{round(mbit_s * 1e6)}bit', 'burst', '64k',
                'latency', '50ms')

    def host(self, name, own_memory=False):
        """A new host, whose address others see unless a NAT hides it."""
        self._hosts += 1
        address = f'10.{self._number}.0.{self._hosts + 1}'
        _space(name)
        port = f'port{self._hosts}'
        _join(name, 'eth0', f'{address}/24', self._router, port, None)
        _in(self._router, 'ip', 'link', 'set', 'dev', port, 'master', 'lan')
        _in(name, 'ip', 'route', 'add', 'default', 'via',
            f'10.{self._number}.0.1')
        return Host(name, address, own_memory)

    @property
    def public_address(self):
        """The address of the router, which others see of a site behind NAT."""
        return f'10.255.{self._number}.2'

    def forward(self, port, host):
        """The NAT's router passes what comes to its port on to the host."""
        _in(self._router, 'nft', '-f', '-', text=(
            f'table ip forward_{port} {{\n'
            ' chain in { type nat hook prerouting priority -100;\n'
            f'  iifname "wan" tcp dport {port} dnat to {host.address}\n }}\n'
            '}\n'))
        _in(self._router, 'nft', 'insert', 'rule', 'ip', 'wall', 'through',
            'iifname', 'wan', 'ip', 'daddr', host.address, 'tcp', 'dport',
            str(port), 'accept')

    def forget(self):
        """The NAT's router forgets every connection, as one that restarts.

        From then on it drops what belongs to none that it knows, without a
        word to either end.
        """
        _in(self._router, 'sysctl', '-q', '-w',
            'net.netfilter.nf_conntrack_tcp_loose=0')
        _in(self._router, 'nft', 'insert', 'rule', 'ip', 'wall', 'through',
            'ct', 'state', 'invalid', 'drop')
        # A masquerade ends with the device that it is for.
        _in(self._router, 'ip', 'link', 'set', 'wan', 'down')
        _in(self._router, 'ip', 'link', 'set', 'wan', 'up')
        _in(self._router, 'ip', 'route', 'add', 'default', 'via',
            f'10.255.{self._number}.1')

    def cut(self):
        """Drops all that passes between the site and the others."""
        _in(_CORE, 'nft', '-f', '-', text=(
            f'table ip cut_{self.name} {{\n'
            ' chain through { type filter hook forward priority 0;\n'
            f'  iifname "{self.name}" drop\n'
            f'  oifname "{self.name}" drop\n }}\n}}\n'))

    def allow_only(self, other):
        """Drops all that passes between the site and the others but one."""
        _in(_CORE, 'nft', '-f', '-', text=(
            f'table ip only_{self.name} {{\n'
            ' chain through { type filter hook forward priority 0;\n'
            f'  iifname "{self.name}" oifname != "{other}" drop\n'
            f'  oifname "{self.name}" iifname != "{other}" drop\n }}\n}}\n'))

    def heal(self):
        _in(_CORE, 'nft', 'delete', 'table', 'ip', f'cut_{self.name}')


class Sites:
    """The core and what is joined to it."""

    def __init__(self):
        _space(_CORE)
        self._made = 0

    def site(self, name, nat=False, rate_mbit_s=None):
        self._made += 1
        return Site(name, self._made, nat, rate_mbit_s)

    def delay(self, delay_ms, jitter_ms, loss, seed):
        """All that passes between sites is late from now on, and some is lost.

        Each way takes `delay_ms` +- `jitter_ms` more. Raises NotToBeHad where
        the kernel gives nobody its packets.
        """
        return Delay(delay_ms, jitter_ms, loss, seed)


class Delay:
    """Packets are late until end()."""

    def __init__(self, delay_ms, jitter_ms, loss, seed):
        if not _has('iptables'):
            raise NotToBeHad('there is no iptables')
        self._holder = subprocess.Popen(
            ['ip', 'netns', 'exec', _CORE, sys.executable, '-B',
             packet_delay.__file__, '--delay-ms', str(delay_ms), '--jitter-ms',
             str(jitter_ms), '--loss', str(loss), '--seed', str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent)
        said = json.loads(self._holder.stdout.readline() or '{}')
        if 'error' in said:
            raise NotToBeHad(f"packets cannot be held: {said['error']}")
        try:
            _in(_CORE, *packet_delay.TURN_ON)
        except RuntimeError as error:
            raise NotToBeHad(str(error)) from None

    def end(self):
        """Returns how many `packets` there were, and how many were `lost`."""
        _in(_CORE, *packet_delay.TURN_OFF)
        self._holder.stdin.close()
        counts = json.loads(self._holder.stdout.readline())
        self._holder.wait()
        return counts
