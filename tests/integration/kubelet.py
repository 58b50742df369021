"""Imitated nodes: what the pods of a real control plane run on.

For each pod that the scheduler gives to one of the nodes, its containers are
started with podman in a network of their own, with their volumes, and their
state is told to the API server. Names of services lead to the addresses that
the real controllers write. Readiness is asked as the pod says; startup and
liveness probes are not imitated.
"""

import base64
import os
import threading
import time
import urllib.error

import containers
import kubelet_server
from kubelet_pod import NAMESPACE, PODS, TURN_S, Pod, now

_LEASE_EVERY_S = 5


class Kubelet:
    """All nodes, in one loop."""

    def __init__(self, api, podman, network, directory, nodes):
        self.api, self.podman, self.directory = api, podman, directory
        self._network = network
        self._nodes = nodes
        self._sites = {}
        self._pods = {}
        self._hosts_made = 0
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._leased = 0
        self.logs = {}
        self.memory = containers.Memory()
        self._server = kubelet_server.Server(
            podman, self._space_of, os.path.join(directory, 'server'))
        self.failed = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        for name in self._nodes:
            self.add_node(name)
        self._thread.start()

    def add_node(self, name):
        """A node as its kubelet registers it."""
        if name not in self._sites:
            self._sites[name] = self._network.site(name)
        self.api.post('/api/v1/nodes', {
            'apiVersion': 'v1', 'kind': 'Node',
            'metadata': {'name': name, 'labels': {
                'kubernetes.io/hostname': name,
                'topology.kubernetes.io/zone': f'zone-{name}'}}})
        self.api.merge(f'/api/v1/nodes/{name}/status', {'status': {
            'addresses': [{'type': 'InternalIP', 'address': '127.0.0.1'}],
            'daemonEndpoints': {'kubeletEndpoint': {
                'Port': self._server.port}},
            'capacity': {'cpu': '8', 'memory': '16Gi', 'pods': '50'},
            'allocatable': {'cpu': '8', 'memory': '16Gi', 'pods': '50'}}})
        self._lease(name)

    def lose_node(self, name):
        """The node is gone with all that ran there, without notice."""
        with self._lock:
            self._nodes = [one for one in self._nodes if one != name]
            lost = [pod for pod in self._pods.values()
                    if pod.thing['spec'].get('nodeName') == name]
        for pod in lost:
            pod.kill()
            self.forget(pod)
        self.api.delete(f'/api/v1/nodes/{name}')
        return [pod.name for pod in lost]

    def _lease(self, name):
        self.api.merge(f'/api/v1/nodes/{name}/status', {'status': {
            'conditions': [{'type': 'Ready', 'status': 'True',
                            'reason': 'KubeletReady', 'message': '',
                            'lastHeartbeatTime': now(),
                            'lastTransitionTime': now()}]}})

    def _run(self):
        while not self._over.is_set():
            try:
                self._turn()
            except urllib.error.HTTPError as error:
                # A conflict with somebody else's change; the next turn sees it.
                if error.code not in (404, 409):
                    self.failed = error
                    raise
            except OSError as error:
                if not self._over.is_set():
                    self.failed = error
                    raise
            self._over.wait(TURN_S)

    def _turn(self):
        if time.monotonic() > self._leased + _LEASE_EVERY_S:
            self._leased = time.monotonic()
            for name in self._nodes:
                self._lease(name)
        self._provision()
        things = self.api.get(PODS)['items']
        with self._lock:
            for thing in things:
                uid = thing['metadata']['uid']
                node = thing['spec'].get('nodeName')
                if node not in self._nodes:
                    continue
                if uid not in self._pods:
                    if thing['metadata'].get('deletionTimestamp'):
                        self.api.delete(
                            f"{PODS}/{thing['metadata']['name']}", 0)
                        continue
                    self._pods[uid] = Pod(self, thing, self._host(node))
                    self._pods[uid].start()
                elif 'deletionTimestamp' in thing['metadata']:
                    self._pods[uid].ending = thing['metadata'].get(
                        'deletionGracePeriodSeconds', 0)
            there = {thing['metadata']['uid'] for thing in things}
            for uid, pod in list(self._pods.items()):
                if uid not in there and pod.ending is None:
                    pod.kill()
                    self.forget(pod)
            pods = list(self._pods.values())
        for pod in pods:
            self.write_hosts(pod)

    def _host(self, node):
        self._hosts_made += 1
        return self._sites[node].host(f'pod{self._hosts_made}')

    def _provision(self):
        """A volume for each claim that has none."""
        claims = self.api.get(
            f'/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims')['items']
        for claim in claims:
            uid, asked = claim['metadata']['uid'], claim['metadata']['name']
            name = f'pvc-{uid}'
            if claim['status']['phase'] != 'Pending' or claim['spec'].get(
                    'volumeName'):
                continue
            if self.api.find(f'/api/v1/persistentvolumes/{name}'):
                continue
            path = os.path.join(self.directory, 'volumes', name)
            os.makedirs(path, exist_ok=True)
            self.api.post('/api/v1/persistentvolumes', {
                'apiVersion': 'v1', 'kind': 'PersistentVolume',
                'metadata': {'name': name},
                'spec': {'capacity': {'storage': '100Gi'},
                         'accessModes': claim['spec']['accessModes'],
                         'hostPath': {'path': path},
                         'storageClassName': claim['spec'].get(
                             'storageClassName', ''),
                         'claimRef': {'namespace': NAMESPACE, 'name': asked,
                                      'uid': uid}}})

    def claimed(self, name):
        """The folder behind a claim."""
        claim = self.api.get(f'/api/v1/namespaces/{NAMESPACE}/'
                             f'persistentvolumeclaims/{name}')
        volume = self.api.get('/api/v1/persistentvolumes/'
                              + claim['spec']['volumeName'])
        return volume['spec']['hostPath']['path']

    def secret(self, name):
        """{key: bytes}. Raises LookupError when there is no such Secret."""
        found = self.api.find(
            f'/api/v1/namespaces/{NAMESPACE}/secrets/{name}')
        if found is None:
            raise LookupError(name)
        return {key: base64.b64decode(value)
                for key, value in found['data'].items()}

    def config_map(self, name):
        """{key: bytes}. Raises LookupError when there is no such ConfigMap."""
        found = self.api.find(
            f'/api/v1/namespaces/{NAMESPACE}/configmaps/{name}')
        if found is None:
            raise LookupError(name)
        return {key: value.encode()
                for key, value in found.get('data', {}).items()}

    def _space_of(self, name):
        """The network of the pod of that name, or None."""
        with self._lock:
            return next((pod.host.space for pod in self._pods.values()
                         if pod.name == name), None)

    def write_hosts(self, pod):
        """Names of services, as a cluster's DNS and proxy make them work."""
        lines = ['127.0.0.1 localhost']
        for one in self.api.get(
                f'/api/v1/namespaces/{NAMESPACE}/endpoints')['items']:
            for subset in one.get('subsets', []):
                for address in subset.get('addresses', [])[:1]:
                    name = one['metadata']['name']
                    lines.append(f"{address['ip']} {name}.{NAMESPACE}.svc")
        text = '\n'.join(lines) + '\n'
        try:
            with open(pod.hosts, 'r+', encoding='ascii') as file:
                if file.read() == text:
                    return
                file.seek(0)
                file.write(text)
                file.truncate()
        except FileNotFoundError:
            pass  # the pod's thread has not begun

    def put_away(self, made):
        """Removes a container of that name, and keeps what it said."""
        said = made.log()
        if said and 'no container with name' not in said:
            self.logs[made.name] = self.logs.get(made.name, '') + said
            made.remove()

    def log(self, pod, box):
        """All that the containers of that name have said."""
        name = f'{pod}_{box}'
        done = self.podman.call('logs', name, check=False)
        return self.logs.get(name, '') + done.stdout + done.stderr

    def forget(self, pod):
        with self._lock:
            self._pods.pop(pod.uid, None)

    def stop(self):
        self._over.set()
        self._thread.join(10)
        self._server.stop()
        with self._lock:
            pods = list(self._pods.values())
        for pod in pods:
            pod.kill()
        self.podman.call('rm', '--all', '--force', '--time', '0', check=False)
        self.memory.unmount()
