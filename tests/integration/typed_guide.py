"""The guide to Kubernetes, typed in a folder like its reader's."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import chart_tools
import guide_blocks
from local_cluster import ctl
from local_cluster import readme

_HERE = os.path.dirname(os.path.abspath(__file__))
_GUIDE = os.path.join(chart_tools.ROOT, 'docs', 'guides', 'kubernetes.md')
_COMMAND_S = 600
_FORWARDED_S = 60
_PODMAN = '''#!/usr/bin/env bash
set -euo pipefail
export CONTAINERS_CONF=%(settings)s
if [ "$1" = build ]; then
  shift; set -- build --isolation oci --network none "$@"
fi
exec %(podman)s "$@"
'''


class Typing:
    """Types blocks of the guide, with the programs that the guide names."""

    def __init__(self, place, podman, plane):
        self._home = os.path.join(place.directory, 'home')
        shims = os.path.join(self._home, 'shims')
        self.checkout = os.path.join(self._home, 'checkout')
        os.makedirs(shims)
        os.makedirs(self.checkout)
        for name in ('docs', 'examples', 'tools'):
            os.symlink(os.path.join(chart_tools.ROOT, name),
                       os.path.join(self.checkout, name))
        self._copy_deploy()
        self._tools = chart_tools.Tools()
        os.symlink(self._tools.kubectl, os.path.join(shims, 'kubectl'))
        self._program(os.path.join(shims, 'podman'), _PODMAN % {
            'podman': ' '.join(
                [shutil.which('podman'), *podman.command[1:]]),
            'settings': podman.environment()['CONTAINERS_CONF']})
        self._program(
            os.path.join(shims, 'helm'), '#!/bin/sh\nexec '
            f'{sys.executable} -B {_HERE}/typed_helm.py "$@"\n')
        self.environment = {
            **os.environ, 'HOME': self._home, 'KUBECONFIG': plane.kubeconfig,
            'PATH': f"{shims}:{os.path.abspath(place.programs)}:"
                    f"{os.environ['PATH']}",
            'XDG_CACHE_HOME': os.environ.get('XDG_CACHE_HOME') or (
                os.path.expanduser('~/.cache')),
            'XDG_CONFIG_HOME': os.path.join(self._home, 'config'),
            'PROGRAMS': place.programs}
        self.guide = readme.Guide(_GUIDE, guide_blocks.KUBERNETES)

    @staticmethod
    def _program(path, text):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        os.chmod(path, 0o755)

    def _copy_deploy(self):
        """The objects for a control plane that is older than they ask for:
        with the budgets of that time, and without what it does not know."""
        copy = os.path.join(self.checkout, 'deploy')
        shutil.copytree(os.path.join(chart_tools.ROOT, 'deploy'), copy,
                        symlinks=True)
        for part in ('helm', 'kustomize'):
            for folder, _, names in os.walk(os.path.join(copy, part)):
                for name in names:
                    inside = os.path.join(folder, name)
                    if os.path.islink(inside):
                        continue
                    with open(inside, encoding='utf-8') as file:
                        text = file.read()
                    text = re.sub(r'^kubeVersion: .*\n|^ *endPort: \d+\n', '',
                                  text, flags=re.MULTILINE)
                    text = re.sub(r', endPort: \d+', '', text)
                    text = text.replace('policy/v1\n', 'policy/v1beta1\n')
                    with open(inside, 'w', encoding='utf-8') as file:
                        file.write(text)

    def write(self, name, text):
        """A file that the guide's reader has beside the checkout's."""
        with open(os.path.join(self.checkout, name), 'w',
                  encoding='utf-8') as file:
            file.write(text)

    def read(self, name):
        """What a file of YAML there says."""
        with open(os.path.join(self.checkout, name),
                  encoding='utf-8') as file:
            return self._tools.yaml.safe_load(file)

    def _script(self, heading, number, names):
        text = '\n'.join(self.guide.commands(heading, number))
        for name, value in names.items():
            text = re.sub(rf'\b{name}\b', value, text)
        return ['bash', '-euo', 'pipefail', '-c', text]

    def type(self, heading, number=1, **names):
        """The exit code and output of a block under a heading."""
        done = subprocess.run(
            self._script(heading, number, names), cwd=self.checkout,
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=_COMMAND_S)
        return done.returncode, done.stdout

    @contextlib.contextmanager
    def forwarding(self, heading, number=1):
        """Runs a block that forwards a port until it is stopped.

        Gives what it said; that names the port once there is one.
        """
        process = subprocess.Popen(
            self._script(heading, number, {}), cwd=self.checkout,
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            process_group=0)
        try:
            said, until = b'', time.monotonic() + _FORWARDED_S
            while b'Forwarding from' not in said:
                left = until - time.monotonic()
                if left <= 0 or not select.select([process.stdout], [], [],
                                                  left)[0]:
                    break
                read = os.read(process.stdout.fileno(), 4096)
                if not read:
                    break
                said += read
            yield said.decode()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    def values(self, heading, number=1):
        """What a block of YAML says."""
        return self._tools.yaml.safe_load(self.guide.text(heading, number))

    def run(self, command):
        """A command that the guide does not have."""
        return subprocess.run(command, cwd=self.checkout,
                              env=self.environment, check=False,
                              stdin=subprocess.DEVNULL, timeout=_COMMAND_S,
                              capture_output=True)


class Ctl(ctl.Ctl):
    """skerryctl in the coordinator's pod, as the guide calls it."""

    def __init__(self, typing):
        super().__init__('skerryctl', '')
        self._typing = typing

    def run(self, *arguments, timeout_s=60):
        done = self._typing.run(['kubectl', 'exec', 'skerry-coordinator-0',
                                 '--', 'skerryctl', *arguments])
        if done.returncode != 0:
            raise ctl.CtlError(done.returncode, done.stderr.decode().strip())
        return done.stdout


def submitted(typing, spec):
    """Types how a job is submitted; the exit code and what was said."""
    typing.write('job.yaml', json.dumps(spec))
    return typing.type('Train', 2)
