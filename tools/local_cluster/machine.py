"""A machine of one's own: a bare Debian 12 in a folder that boots systemd.

It is a container that shares the kernel, has a network of its own with nothing
in it but loopback, and boots again when it is told to. All of it needs root.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import time

from local_cluster import bare_root

_TOOLS = {'mmdebstrap': 'mmdebstrap', 'systemd-nspawn': 'systemd-container',
          'nsenter': 'util-linux'}
# What systemd-nspawn ends with when the machine wants to boot again.
_REBOOTS = 133
_BOOT_S = 60
_SPACES = ('mnt', 'uts', 'ipc', 'net', 'pid')
_ENVIRONMENT = {'HOME': '/root', 'USER': 'root', 'LOGNAME': 'root',
                'TERM': 'dumb', 'LC_ALL': 'C.UTF-8',
                'DEBIAN_FRONTEND': 'noninteractive',
                'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:'
                        '/sbin:/bin'}
_OLD_MEMORY = '/sys/fs/cgroup/memory'
_LIBC = ctypes.CDLL(None, use_errno=True)


class NotToBeHad(Exception):
    """There is no such machine here; says why."""


def require():
    """Raises NotToBeHad where no machine can be made."""
    if os.getuid() != 0:
        raise NotToBeHad('a machine of its own is made by root')
    missing = [package for tool, package in _TOOLS.items()
               if not shutil.which(tool)]
    if missing:
        raise NotToBeHad('a machine of its own needs the packages '
                         + ' '.join(missing))


class Machine:

    def __init__(self, directory, packages):
        """Makes it in `directory` with more Debian packages; boots nothing."""
        self.root = os.path.join(directory, 'root')
        self._console = os.path.join(directory, 'console.log')
        self._process = self._leader = None
        sources = [f'deb {site} {release} main'
                   for site, release in bare_root.sources()]
        done = subprocess.run(
            ['mmdebstrap', '--quiet', '--variant=minbase', '--include='
             + ','.join(['systemd', 'systemd-sysv', 'dbus', *packages]),
             'bookworm', self.root, *sources],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        if done.returncode != 0:
            raise RuntimeError(f'mmdebstrap: {done.stderr.strip()[-2000:]}')
        # Nothing can be fetched inside.
        self.write('/etc/apt/sources.list', '')

    def path(self, inside):
        """Where a file of the machine lies on this one."""
        return self.root + inside

    def write(self, inside, text):
        path = self.path(inside)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def boot(self):
        """Returns once all that is enabled is started.

        Raises NotToBeHad where the kernel lets no such machine boot.
        """
        with open(self._console, 'ab') as console:
            self._process = subprocess.Popen(
                ['systemd-nspawn', '--quiet', '--register=no', '--keep-unit',
                 '--private-network', f'--machine=skerry-{os.getpid()}',
                 '--boot', f'--directory={self.root}'],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        deadline = time.monotonic() + _BOOT_S
        state = ''
        while state not in ('running', 'degraded'):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise NotToBeHad('systemd does not boot in a container here: '
                                 + self.console()[-300:])
            time.sleep(0.1)
            self._leader = _child_of(self._process.pid)
            if self._leader:
                state = self.run('systemctl', 'is-system-running',
                                 check=False).stdout.strip()

    def await_reboot(self, wait_s):
        """Boots again once what runs in it has said so."""
        code = self._process.wait(wait_s)
        if code != _REBOOTS:
            raise RuntimeError(f'the machine ended with {code}')
        self.boot()

    def let_limit_memory(self):
        """Whether units may limit memory; tries to make it so.

        Where the controllers of memory are those of the first version, they
        are shown to a container, which may not change them.
        """
        if os.path.isdir(_OLD_MEMORY):
            self.run('mount', '-o', 'remount,rw,bind', _OLD_MEMORY,
                     check=False)
            self.run('systemctl', 'daemon-reexec')
        return self.run('systemd-run', '--quiet', '--wait', '--collect', '-p',
                        'MemoryMax=40M', '-p', 'MemorySwapMax=0', 'dd',
                        'if=/dev/zero', 'of=/dev/null', 'bs=160M', 'count=1',
                        check=False).returncode != 0

    def memory_of(self, group):
        """The folder in which the kernel counts the memory of a unit's group.

        Asked after let_limit_memory().
        """
        return (_OLD_MEMORY if os.path.isdir(_OLD_MEMORY)
                else os.path.dirname(_OLD_MEMORY)) + group

    def booted(self):
        return self._process is not None and self._process.poll() is None

    def console(self):
        with open(self._console, encoding='utf-8', errors='replace') as file:
            return file.read()

    def command(self, words):
        """What runs `words` in it as root."""
        return ['nsenter', f'--target={self._leader}', '--mount', '--uts',
                '--ipc', '--net', '--pid', '--', 'env', '-i', '-C', '/root',
                *(f'{k}={v}' for k, v in _ENVIRONMENT.items()), *words]

    def run(self, *words, check=True, timeout_s=120):
        done = subprocess.run(self.command(words), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False,
                              timeout=timeout_s)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: exit {done.returncode}: "
                               f'{(done.stdout + done.stderr)[-2000:]}')
        return done

    def become_root(self):
        """Makes this process's children processes of the machine."""
        spaces = [os.open(f'/proc/{self._leader}/ns/{name}', os.O_RDONLY)
                  for name in _SPACES]
        for space in spaces:
            if _LIBC.setns(space, 0) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code))
            os.close(space)

    def environment(self):
        return dict(_ENVIRONMENT)

    def close(self):
        """Ends everything that runs in it, at once."""
        if self._process is None:
            return
        leader = _child_of(self._process.pid)
        if leader:
            os.kill(leader, signal.SIGKILL)  # and all of its processes with it
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def _child_of(pid):
    """The only child of a process, or None."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
            children = file.read().split()
    except OSError:
        return None
    return int(children[0]) if len(children) == 1 else None
