"""A bare Debian 12 in a folder: what somebody has who has installed nothing.

It has the packages that Debian itself needs, from the sources of packages that
this machine has. File systems are mounted for its processes alone, so that the
folder can be removed at any time. All of it needs root.
"""

import ctypes
import os
import shutil
import signal
import subprocess

from local_cluster import private_network

_SUITE = 'bookworm'
_USER = 'newcomer'
_HOME = f'/home/{_USER}'
_ACTIONS = '/var/cache/skerry-actions'
_CLONE_NEWNS = 0x00020000
_LIBC = ctypes.CDLL(None, use_errno=True)


class BareRoot:

    def __init__(self, directory, actions=None):
        """`actions`: a disk cache of Bazel's whose results are taken."""
        if os.getuid() != 0 or not shutil.which('debootstrap'):
            raise RuntimeError('a bare root is made by root, with debootstrap:'
                               ' apt-get install debootstrap')
        self.directory = directory
        self._root = os.path.realpath(directory)
        self.home = _HOME
        self._actions = actions
        found = sources()
        subprocess.run(
            ['debootstrap', '--variant=minbase', _SUITE, directory,
             next(site for site, release in found if release == _SUITE)],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._write('/etc/apt/sources.list', ''.join(
            f'deb {site} {release} main\n' for site, release in found))
        for name in ('/etc/resolv.conf', '/etc/hosts'):
            shutil.copy(name, self._path(name))
        self.run(['useradd', '--create-home', '--shell', '/bin/bash', _USER])
        if actions:
            os.makedirs(self._path(_ACTIONS))
            self._write(f'{_HOME}/.bazelrc',
                        f'build --disk_cache={_ACTIONS}\n'
                        'build --noremote_upload_local_results\n')

    def _path(self, inside):
        return self.directory + inside

    def _write(self, inside, text):
        with open(self._path(inside), 'w', encoding='utf-8') as file:
            file.write(text)

    def clone(self, checkout, name):
        """Clones the last commit of `checkout` into the user's home."""
        inside = f'{_HOME}/{name}'
        subprocess.run(['git', 'clone', '--quiet', '--no-hardlinks', checkout,
                        self._path(inside)], check=True)
        self.run(['chown', '--recursive', f'{_USER}:', inside])
        return inside

    def run(self, command, directory='/'):
        """Runs a command as root, with the machine's network."""
        def become():
            self._enter()
            os.chdir(directory)
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, 'HOME': '/root'}, preexec_fn=become)

    def become_user(self):
        """Makes this process one of the ordinary user, without a network."""
        private_network.enter()
        self._enter()
        with open('/etc/passwd', encoding='utf-8') as file:
            fields = next(line.split(':') for line in file
                          if line.startswith(f'{_USER}:'))
        os.setgroups([])
        os.setgid(int(fields[3]))
        os.setuid(int(fields[2]))

    def close(self):
        """Ends what still runs in it, as Bazel's server does."""
        for name in os.listdir('/proc'):
            try:
                if (name.isdigit()
                        and os.readlink(f'/proc/{name}/root') == self._root):
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue  # it has ended

    def environment(self):
        return {'HOME': _HOME, 'USER': _USER, 'LOGNAME': _USER,
                'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/games'}

    def _enter(self):
        if _LIBC.unshare(_CLONE_NEWNS) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        mounts = [['--make-rprivate', '/'],
                  ['-t', 'proc', 'proc', self._path('/proc')],
                  ['--rbind', '/dev', self._path('/dev')]]
        if self._actions and os.path.isdir(self._path(_ACTIONS)):
            mounts.append(['--bind', self._actions, self._path(_ACTIONS)])
        for mount in mounts:
            subprocess.run(['mount', *mount], check=True)
        os.chroot(self.directory)
        os.chdir('/')


def sources():
    """[(address, release)] of Debian's own packages, as apt has them here."""
    told = subprocess.run(
        ['apt-get', 'indextargets', '--format',
         '$(ORIGIN) $(COMPONENT) $(SITE) $(RELEASE)', 'Created-By: Packages'],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    found = []
    for line in told.splitlines():
        words = line.split()
        if words[:2] == ['Debian', 'main'] and tuple(words[2:]) not in found:
            found.append(tuple(words[2:]))
    return found
