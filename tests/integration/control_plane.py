"""A real control plane of Kubernetes, on the loopback of a network of its own.

It is the one that Debian 12 has the sources of, built once and kept.
"""

import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from local_cluster import bare_root
from local_cluster.processes import Daemon

_PROGRAMS = ('kube-apiserver', 'kube-controller-manager', 'kube-scheduler')
_NEEDED = ('etcd', 'go', 'rsync', 'jq', 'make', 'dpkg-source', 'openssl')
_BUILD_S = 3 * 3600
_READY_S = 120
_ADDRESS = 'https://127.0.0.1:6443'
_TOKEN = 'a-token-of-this-test'


class NotToBeHad(Exception):
    """Why there is no control plane here."""


def build(folder):
    """Builds the programs into `folder` unless they are there."""
    if all(os.access(os.path.join(folder, name), os.X_OK)
           for name in _PROGRAMS):
        return folder
    missing = [name for name in _NEEDED if not shutil.which(name)]
    if missing:
        raise NotToBeHad(f"building it needs {', '.join(missing)} "
                         '(packages etcd-server, golang-go, rsync, jq, make, '
                         'dpkg-dev, openssl)')
    work = os.path.join(folder, 'work')
    lists = os.path.join(work, 'lists')
    os.makedirs(os.path.join(lists, 'partial'))
    site, release = next((site, release) for site, release in
                         bare_root.sources() if release == 'bookworm')
    sources = os.path.join(work, 'sources.list')
    with open(sources, 'w', encoding='utf-8') as file:
        file.write(f'deb-src {site} {release} main\n')
    apt = ['apt-get', '-qq', '-o', f'Dir::Etc::sourcelist={sources}', '-o',
           'Dir::Etc::sourceparts=-', '-o', f'Dir::State::lists={lists}']
    with open(os.path.join(folder, 'build.log'), 'wb') as log:
        for command in (
                [*apt, 'update'], [*apt, 'source', 'kubernetes'],
                ['sh', '-c', 'cd kubernetes-*/ && exec nice -n 19 make WHAT="'
                 + ' '.join(f'cmd/{name}' for name in _PROGRAMS) + '"']):
            done = subprocess.run(
                command, cwd=work, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, check=False, timeout=_BUILD_S,
                env={**os.environ, 'CGO_ENABLED': '0', 'GOPROXY': 'off'})
            if done.returncode != 0:
                raise NotToBeHad(f"{' '.join(command[:2])} failed; see "
                                 f'{log.name}')
    for root, _, names in os.walk(work):
        if root.endswith('/_output/local/bin/linux/amd64'):
            for name in set(names) & set(_PROGRAMS):
                shutil.copy(os.path.join(root, name), folder)
    shutil.rmtree(work)
    return folder


class Api:
    """Calls of the API, as an admin."""

    def __init__(self):
        self._context = ssl._create_unverified_context()

    def call(self, method, path, content=None, kind='application/json'):
        """The object in the answer. Raises urllib.error.HTTPError."""
        request = urllib.request.Request(
            _ADDRESS + path, method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={'Authorization': f'Bearer {_TOKEN}',
                     'Content-Type': kind})
        with urllib.request.urlopen(request, timeout=30,
                                    context=self._context) as answer:
            return json.load(answer)

    def get(self, path):
        return self.call('GET', path)

    def find(self, path):
        """The object, or None when there is none."""
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def post(self, path, content):
        return self.call('POST', path, content)

    def merge(self, path, content):
        return self.call('PATCH', path, content,
                         'application/merge-patch+json')

    def delete(self, path, grace_s=None):
        content = None if grace_s is None else {
            'apiVersion': 'v1', 'kind': 'DeleteOptions',
            'gracePeriodSeconds': grace_s}
        try:
            return self.call('DELETE', path, content)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise


class ControlPlane:
    """etcd, the API server, the controllers and the scheduler."""

    def __init__(self, programs, directory):
        os.makedirs(directory)
        self._directory = directory
        self.kubeconfig = os.path.join(directory, 'kubeconfig')
        self.api = Api()
        key = os.path.join(directory, 'accounts.key')
        subprocess.run(['openssl', 'genrsa', '-out', key, '2048'], check=True,
                       stderr=subprocess.DEVNULL)
        tokens = os.path.join(directory, 'tokens.csv')
        with open(tokens, 'w', encoding='ascii') as file:
            file.write(f'{_TOKEN},admin,1,"system:masters"\n')
        with open(self.kubeconfig, 'w', encoding='ascii') as file:
            json.dump({
                'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'it',
                'clusters': [{'name': 'it', 'cluster': {
                    'server': _ADDRESS, 'insecure-skip-tls-verify': True}}],
                'users': [{'name': 'it', 'user': {'token': _TOKEN}}],
                'contexts': [{'name': 'it', 'context': {
                    'cluster': 'it', 'user': 'it'}}]}, file)
        store = 'http://127.0.0.1:2379'
        self._daemons = [
            self._daemon('etcd', 'etcd', '--data-dir',
                         os.path.join(directory, 'etcd'),
                         '--listen-client-urls', store,
                         '--advertise-client-urls', store,
                         '--listen-peer-urls', 'http://127.0.0.1:2380'),
            self._daemon(
                'apiserver', os.path.join(programs, 'kube-apiserver'),
                f'--etcd-servers={store}', '--bind-address=127.0.0.1',
                # Nobody asks there; it may not be of the loopback.
                '--advertise-address=192.0.2.1',
                f'--cert-dir={directory}/serving',
                '--service-cluster-ip-range=10.96.0.0/16',
                '--service-account-issuer=https://kubernetes.default.svc',
                f'--service-account-key-file={key}',
                f'--service-account-signing-key-file={key}',
                f'--token-auth-file={tokens}', '--authorization-mode=RBAC',
                '--disable-admission-plugins=ServiceAccount',
                '--endpoint-reconciler-type=none'),
            self._daemon(
                'controllers',
                os.path.join(programs, 'kube-controller-manager'),
                f'--kubeconfig={self.kubeconfig}', '--leader-elect=false',
                f'--service-account-private-key-file={key}'),
            self._daemon(
                'scheduler', os.path.join(programs, 'kube-scheduler'),
                f'--kubeconfig={self.kubeconfig}', '--leader-elect=false')]

    def _daemon(self, name, *argv):
        return Daemon(name, list(argv),
                      os.path.join(self._directory, name + '.log'))

    def start(self):
        """Starts all, and waits until the API answers."""
        self._daemons[0].start()
        self._daemons[1].start()
        until = time.monotonic() + _READY_S
        while True:
            try:
                self.api.get('/api/v1/namespaces/default')
                break
            except (OSError, urllib.error.URLError) as why:
                if (not self._daemons[1].running()
                        or time.monotonic() > until):
                    raise RuntimeError('the API server does not answer: '
                                       f'{self._daemons[1].tail(3)}') from why
                time.sleep(0.2)
        for daemon in self._daemons[2:]:
            daemon.start()

    def daemons(self):
        return self._daemons

    def version(self):
        return self.api.get('/version')['gitVersion']

    def stop(self):
        for daemon in reversed(self._daemons):
            daemon.kill()
