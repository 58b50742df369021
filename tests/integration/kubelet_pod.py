"""One pod on an imitated node, and the containers in it."""

import concurrent.futures
import copy
import ctypes
import datetime
import http.client
import os
import socket
import threading
import time
import urllib.error

import containers

NAMESPACE = 'default'
PODS = f'/api/v1/namespaces/{NAMESPACE}/pods'
TURN_S = 0.3
_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_MODE_OF_GROUP = 0o070


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime(
        '%Y-%m-%dT%H:%M:%SZ')


def expand(text, environment):
    for name, value in environment.items():
        text = text.replace(f'$({name})', value)
    return text


def enter_network(space):
    """Has this thread alone make its sockets in a pod's network."""
    with open(f'/run/netns/{space}', 'rb') as file:
        if _LIBC.setns(file.fileno(), _CLONE_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))


def connect_in(space, port):
    """A connection to a port of a pod's loopback. `space` may be None."""
    if space is None:
        raise OSError('there is no such pod')

    def connect():
        enter_network(space)
        return socket.create_connection(('127.0.0.1', port))
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(connect).result()


class Readiness(threading.Thread):
    """Asks a path of a port in a pod's network, again and again."""

    def __init__(self, space, port, path):
        super().__init__(daemon=True)
        self._space, self._port, self._path = space, port, path
        self.ready = False
        self.over = False

    def run(self):
        enter_network(self._space)
        while not self.over:
            self.ready = self._ask()
            time.sleep(TURN_S)

    def _ask(self):
        connection = http.client.HTTPConnection('127.0.0.1', self._port,
                                                timeout=3)
        try:
            connection.request('GET', self._path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Pod(threading.Thread):
    """One pod, from its first container to its end."""

    def __init__(self, kubelet, thing, host):
        super().__init__(daemon=True)
        self.thing, self.host = thing, host
        self.name = thing['metadata']['name']
        self.uid = thing['metadata']['uid']
        self._kubelet = kubelet
        self._folder = os.path.join(kubelet.directory, 'pods', self.uid)
        self._running = {}
        self._asking = {}
        self._restarts = {}
        self._told = None
        self._began = now()
        self.hosts = os.path.join(self._folder, 'hosts')
        self.ending = None  # seconds of grace, once it is to end
        self.gone = False   # killed, with nobody told

    def run(self):
        try:
            self._live()
        except Exception as error:  # pylint: disable=broad-except
            self._kubelet.failed = error
            raise

    def _live(self):
        os.makedirs(self._folder)
        with open(self.hosts, 'w', encoding='ascii') as file:
            file.write('127.0.0.1 localhost\n')
        self._kubelet.write_hosts(self)
        spec = self.thing['spec']
        for box in spec.get('initContainers', []):
            if not self._to_the_end(box):
                return self._finish('Failed')
        while self.ending is None and not self.gone:
            for box in spec['containers']:
                self._keep(box)
            if spec['restartPolicy'] == 'Never' and self._all_over():
                codes = [made.state()['ExitCode']
                         for made in self._running.values()]
                return self._finish('Failed' if any(codes) else 'Succeeded')
            self._tell()
            time.sleep(TURN_S)
        if self.gone:
            return None
        self._stop()
        # As a kubelet says that nothing of the pod is left.
        self._kubelet.api.delete(f'{PODS}/{self.name}', 0)
        self._kubelet.forget(self)
        return None

    def _to_the_end(self, box):
        """Whether an init container has succeeded, in the end."""
        while self.ending is None and not self.gone:
            made = self._start(box)
            if made is None:
                time.sleep(TURN_S)
                continue
            if made.wait() == 0:
                return True
            if self.thing['spec']['restartPolicy'] == 'Never':
                return False
            time.sleep(1)
        return True

    def _keep(self, box):
        made = self._running.get(box['name'])
        if made is None or (not made.running() and self.thing['spec'][
                'restartPolicy'] == 'Always'):
            if made is not None:
                self._restarts[box['name']] = self._restarts.get(
                    box['name'], 0) + 1
            self._start(box)

    def _start(self, box):
        """The container, or None while a Secret is missing."""
        try:
            environment = self._environment(box)
            volumes = self._volumes(box)
        except LookupError:
            return None
        limit = box['resources']['limits']['memory'].rstrip('i').lower()
        # All names are in the file. A server that refuses says so at once of
        # the addresses of version 6, which have none.
        options = ['--no-hosts', '--volume', f'{self.hosts}:/etc/hosts:ro',
                   '--dns', '127.0.0.1',
                   '--memory', limit, '--memory-swap', limit]
        for name, value in environment.items():
            options += ['--env', f'{name}={value}']
        for volume in volumes:
            options += ['--volume', volume]
        made = containers.Container(
            self._kubelet.podman, f"{self.name}_{box['name']}", box['image'],
            self.host.space, options,
            [expand(word, environment) for word in box.get('args', [])])
        # One of an earlier life, whose log the kubelet keeps.
        self._kubelet.put_away(made)
        made.start()
        self._running[box['name']] = made
        probe = box.get('readinessProbe')
        if probe and box['name'] not in self._asking:
            port = next(one['containerPort'] for one in box['ports']
                        if one['name'] == probe['httpGet']['port'])
            self._asking[box['name']] = Readiness(
                self.host.space, port, probe['httpGet']['path'])
            self._asking[box['name']].start()
        return made

    def _environment(self, box):
        found = {}
        for one in box.get('env', []):
            source = one.get('valueFrom', {})
            if 'fieldRef' in source:
                found[one['name']] = {
                    'metadata.namespace': NAMESPACE,
                    'metadata.name': self.name,
                    'status.podIP': self.host.address,
                }[source['fieldRef']['fieldPath']]
            elif 'secretKeyRef' in source:
                reference = source['secretKeyRef']
                found[one['name']] = self._kubelet.secret(reference['name'])[
                    reference['key']].decode()
            else:
                found[one['name']] = one['value']
        return found

    def _volumes(self, box):
        """Words for podman: FOLDER:PATH[:ro]."""
        made = {one['name']: one for one in self.thing['spec'].get(
            'volumes', [])}
        words = []
        for mount in box.get('volumeMounts', []):
            path = self._volume(made[mount['name']])
            if 'subPath' in mount:
                path = os.path.join(path, mount['subPath'])
                os.makedirs(path, exist_ok=True)
                self._give(path)
            read_only = ':ro' if mount.get('readOnly') else ''
            words.append(f"{path}:{mount['mountPath']}{read_only}")
        return words

    def _volume(self, volume):
        """The folder of a volume, which is made at its first use."""
        claim = volume.get('persistentVolumeClaim')
        if claim:
            path = self._kubelet.claimed(claim['claimName'])
            self._give(path)
            return path
        path = os.path.join(self._folder, volume['name'])
        if os.path.exists(path):
            return path
        source, files = self._files_of(volume)
        if volume.get('emptyDir', {}).get('medium') == 'Memory':
            self._kubelet.memory.mount(
                path, volume['emptyDir']['sizeLimit'].rstrip('i').lower())
        else:
            os.makedirs(path)
        wanted = {one['key']: one['path'] for one in source.get(
            'items', [{'key': name, 'path': name} for name in files])}
        for key, name in wanted.items():
            inside = os.path.join(path, name)
            with open(inside, 'wb') as file:
                file.write(files[key])
            os.chmod(inside, source['defaultMode'])
            os.chown(inside, 0, self._group())
        self._give(path)
        return path

    def _files_of(self, volume):
        """The Secret or ConfigMap that a volume names, with its files by name;
        two empty maps for a volume of another kind."""
        if 'secret' in volume:
            return volume['secret'], self._kubelet.secret(
                volume['secret']['secretName'])
        if 'configMap' in volume:
            return volume['configMap'], self._kubelet.config_map(
                volume['configMap']['name'])
        return {}, {}

    def _group(self):
        return self.thing['spec']['securityContext']['fsGroup']

    def _give(self, path):
        """To the pod's group, as fsGroup asks."""
        os.chown(path, 0, self._group())
        os.chmod(path, os.stat(path).st_mode | _MODE_OF_GROUP)

    def _all_over(self):
        return len(self._running) >= 1 and not any(
            made.running() for made in self._running.values())

    def _tell(self, phase=None):
        """The pod's status, when it has changed."""
        boxes = self.thing['spec']['containers']
        statuses = []
        for box in boxes:
            made = self._running.get(box['name'])
            probe = self._asking.get(box['name'])
            running = made is not None and made.running()
            ready = running and (probe is None or probe.ready)
            statuses.append({
                'name': box['name'], 'image': box['image'], 'imageID': '',
                'ready': ready, 'started': running,
                'restartCount': self._restarts.get(box['name'], 0),
                'state': {'running': {'startedAt': self._began}} if running
                         else {'waiting': {'reason': 'ContainerCreating'}}})
        ready = all(one['ready'] for one in statuses)
        running = all(one['started'] for one in statuses)
        status = {
            'phase': phase or ('Running' if running else 'Pending'),
            'podIP': self.host.address,
            'podIPs': [{'ip': self.host.address}], 'hostIP': '127.0.0.1',
            'startTime': self._began, 'containerStatuses': statuses,
            'conditions': [
                {'type': kind, 'status': 'True' if good else 'False',
                 'lastTransitionTime': self._began}
                for kind, good in (('PodScheduled', True),
                                   ('Initialized', running),
                                   ('ContainersReady', ready),
                                   ('Ready', ready))]}
        if status == self._told:
            return
        try:
            self._kubelet.api.merge(f'{PODS}/{self.name}/status',
                                    {'status': status})
            self._told = copy.deepcopy(status)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):
                raise

    def _finish(self, phase):
        self._tell(phase)
        while self.ending is None and not self.gone:
            time.sleep(TURN_S)
        if not self.gone:
            self._kubelet.api.delete(f'{PODS}/{self.name}', 0)
        self._kubelet.forget(self)

    def _stop(self):
        for probe in self._asking.values():
            probe.over = True
        stopping = [threading.Thread(target=made.stop, args=(self.ending,))
                    for made in self._running.values()]
        for one in stopping:
            one.start()
        for one in stopping:
            one.join()

    def kill(self):
        """Without notice, as when a node loses its power."""
        self.gone = True
        for probe in self._asking.values():
            probe.over = True
        for made in self._running.values():
            made.kill()
