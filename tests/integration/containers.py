"""Containers of Skerry's images under podman, as a suite needs them.

They run in the way that Kubernetes' restricted profile asks for: no root, no
capability, a root that nobody can write to.
"""

import json
import os
import shutil
import subprocess

_TIMEOUT_S = 300
# What works where the kernel has both kinds of control groups and limits cannot
# be raised.
_SETTINGS = '''[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
'''


class NotToBeHad(Exception):
    """Why there are no containers here."""


def require():
    missing = [name for name in ('podman', 'runc') if not shutil.which(name)]
    if missing:
        raise NotToBeHad(f"there is no {' and no '.join(missing)}")
    if os.getuid() != 0:
        raise NotToBeHad('containers are made by root')


class Podman:
    """An engine whose images and containers are all in one folder."""

    def __init__(self, directory):
        self._directory = directory
        settings = os.path.join(directory, 'containers.conf')
        os.makedirs(directory)
        with open(settings, 'w', encoding='utf-8') as file:
            file.write(_SETTINGS)
        self._environment = {**os.environ, 'CONTAINERS_CONF': settings}
        self.command = ['podman', '--root', os.path.join(directory, 'store'),
                        '--runroot', '/run/skerry-containers']

    def call(self, *words, check=True):
        """The finished process of `podman WORDS`."""
        done = subprocess.run(
            [*self.command, *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
            # The engine's monitor leaves a file where the memory ran out.
            env=self._environment, cwd=self._directory)
        if check and done.returncode != 0:
            raise RuntimeError(f"podman {' '.join(words)}: "
                               f'{done.stderr.strip()}')
        return done

    def try_out(self):
        """Raises NotToBeHad where no container can be started."""
        context = os.path.join(self._directory, 'trial')
        os.makedirs(context)
        path = os.path.join(context, 'Dockerfile')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('FROM scratch\nCOPY Dockerfile /\n'
                       'ENTRYPOINT ["/Dockerfile"]\n')
        os.chmod(path, 0o755)
        try:
            self.build(context, 'trial')
            told = self.call('run', '--rm', '--network', 'none', 'trial',
                             check=False)
        except RuntimeError as why:
            raise NotToBeHad(str(why)) from why
        # The engine comes as far as finding that this is no program.
        if 'exec format error' not in told.stderr.lower():
            raise NotToBeHad(told.stderr.strip())

    def build(self, context, tag, *words):
        """Builds without a network. Returns the image's number."""
        return self.call('build', '--isolation', 'oci', '--network', 'none',
                         '--timestamp', '0', '--tag', tag, *words,
                         context).stdout.split()[-1]

    def config(self, image):
        return json.loads(self.call('image', 'inspect', image).stdout)[0]

    def environment(self):
        return self._environment


class Memory:
    """Folders of memory, which go with the suite."""

    def __init__(self):
        self._paths = []

    def mount(self, path, size):
        """Makes the folder; `size` as tmpfs takes it."""
        os.makedirs(path)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=1777',
                        'tmpfs', path], check=True)
        self._paths.append(path)
        return path

    def unmount(self):
        for path in self._paths:
            subprocess.run(['umount', '--lazy', path], check=False)


class Container:
    """One container. `options` are further words of `podman run`."""

    def __init__(self, podman, name, image, space, options, arguments):
        self.name, self._podman = name, podman
        self._said = None  # the log of a container that is removed
        self._words = [
            'run', '--detach', '--name', name, '--network',
            f'ns:/run/netns/{space}' if space else 'none', '--read-only',
            '--read-only-tmpfs=false', '--cap-drop', 'all', '--security-opt',
            'no-new-privileges', '--log-driver', 'k8s-file', *options, image,
            *arguments]

    def start(self):
        self._podman.call(*self._words)

    def state(self):
        told = self._podman.call('inspect', '--format', '{{json .State}}',
                                 self.name).stdout
        return json.loads(told)

    def pid(self):
        return self.state()['Pid']

    def running(self):
        return self.state()['Running']

    def wait(self):
        """Until it has ended. Returns the exit code."""
        return int(self._podman.call('wait', self.name).stdout)

    def stop(self, seconds):
        """The stop signal, then SIGKILL after `seconds`. The exit code."""
        self._podman.call('stop', '--time', str(seconds), self.name)
        return self.state()['ExitCode']

    @property
    def log_path(self):
        return f'podman logs {self.name}'

    def tail(self, lines=15):
        """The last lines of the log."""
        return '\n'.join(self.log().splitlines()[-lines:])

    def log(self):
        if self._said is not None:
            return self._said
        done = self._podman.call('logs', self.name, check=False)
        return done.stdout + done.stderr

    def kill(self):
        """SIGKILL, if it still runs."""
        self._podman.call('kill', '--signal', 'KILL', self.name, check=False)

    def remove(self):
        self._said = self.log()
        self._podman.call('rm', '--force', '--time', '0', self.name)
