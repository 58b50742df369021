"""A run that goes on from a checkpoint, beside the run that was never
disturbed: part of `resume` and of `programs`.

A job of one replica is saved in its middle and at its end. A second job goes
on from the middle. With the inner state its end is the first one's, bit for
bit. Without it, and with a damaged one, it is not.
"""

import copy
import hashlib
import json
import os
import shutil
import struct

from local_cluster import checks
from local_cluster import logs
from local_cluster.progress import Progress

_INNER = 'inner.safetensors'
_MANIFEST = 'skerry-checkpoint.json'


def _read(path):
    with open(path, 'rb') as file:
        return file.read()


def _values(path):
    """The bytes of a safetensors file behind its header."""
    content = _read(path)
    size, = struct.unpack('<Q', content[:8])
    return content[8 + size:]


def _weights(folder):
    return _read(os.path.join(folder, 'model.safetensors'))


def without_inner(store, name, copied):
    """A copy of the checkpoint whose manifest names no inner state."""
    shutil.copytree(os.path.join(store, name), os.path.join(copied, name))
    os.remove(os.path.join(copied, name, _INNER))
    path = os.path.join(copied, name, _MANIFEST)
    body = json.loads(_read(path))
    body['files'] = [one for one in body['files'] if one['file'] != _INNER]
    del body['manifest_sha256']

    def text():
        return json.dumps(body, indent=2, ensure_ascii=True) + '\n'
    body['manifest_sha256'] = hashlib.sha256(text().encode()).hexdigest()
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text())


def moments(cluster, worker, job):
    """What the log of the worker says of the inner states of a job."""
    number = int(cluster.ctl.job(job)['id'])
    return [entry['what'] for entry in logs.read(
        cluster.worker(worker).daemon.log_path)
            if entry['event'] == 'worker.seat' and entry['job'] == number
            and ('inner state' in entry['what']
                 or 'cold moments' in entry['what'])]


class GoneOn:
    """`spec` is a job of one replica at `worker`, of `rounds` rounds. Its
    method takes results at once, and its codec loses nothing."""

    def __init__(self, cases, cluster, spec, worker, rounds):
        self._cases, self._cluster = cases, cluster
        self._spec, self._worker, self._rounds = spec, worker, rounds
        self._middle = f'checkpoint-{rounds // 2}'
        self._name = spec['name']

    def _store(self, name):
        return os.path.join(self._cluster.directory, f'{name}-checkpoints')

    def _train(self, name, store=None, samples='go_on', rounds=None):
        """Trains a job to its end; the folder of its last checkpoint, and its
        view. `store` has the checkpoint that it starts from."""
        spec = copy.deepcopy(self._spec)
        spec['name'] = name
        spec['checkpoint'] = {'directory': self._store(name),
                              'every': self._rounds // 2}
        if store:
            spec['model']['checkpoint'] = {
                'path': store, 'name': self._middle, 'samples': samples}
        if rounds:
            spec['training']['samples'] = (spec['training']['samples']
                                           // self._rounds * rounds)
        self._cluster.submit(spec)
        Progress(self._cluster, name, self._rounds, None,
                 stuck_after_s=120).wait()
        view = checks.end_of_job(self._cases, self._cluster, name)
        return os.path.join(self._store(name),
                            f"checkpoint-{view['sequence']}"), view

    def _said(self, name):
        return moments(self._cluster, self._worker, name)

    def run(self):
        """All cases."""
        whole, _ = self._train(self._name)
        found = {one['name']: one.get('inner_state') for one in
                 self._cluster.ctl.json('checkpoint', 'list', self._store(
                     self._name))['checkpoints']}
        good = found.get(self._middle) and found.get(os.path.basename(whole))
        self._cases.check(f'{self._name}: its checkpoints have inner states',
                          good, str(found))
        if not good:
            return
        on = self._with_it(whole)
        self._without_it(whole, on)
        self._anew()
        self._damaged()

    def _with_it(self, whole):
        name = f'{self._name}-on'
        folder, view = self._train(name, self._store(self._name))
        said = self._said(name)
        self._cases.check(
            f'{name} begins with the inner state of the checkpoint',
            len(said) == 1 and said[0].startswith(
                f'goes on with the inner state of sequence {self._rounds // 2},'
            ), str(said))
        self._cases.check(f'{name} ends as the undisturbed run, bit for bit',
                          _weights(folder) == _weights(whole))
        self._cases.check(
            'and so do its moments',
            _values(os.path.join(folder, _INNER))
            == _values(os.path.join(whole, _INNER)))
        return view

    def _without_it(self, whole, on):
        store = os.path.join(self._cluster.directory, f'{self._name}-bare')
        without_inner(self._store(self._name), self._middle, store)
        name = f'{self._name}-cold'
        folder, view = self._train(name, store)
        said = self._said(name)
        self._cases.check(
            f'{name} says that it begins with cold moments, and why',
            len(said) == 1 and said[0] == 'begins with cold moments, because '
            f'{store}/{self._middle} has no inner state', str(said))
        self._cases.check(f'{name} ends elsewhere',
                          _weights(folder) != _weights(whole))
        first = [one['losses'][0].get('training_loss', 0.0)
                 for one in (on, view)]
        print(f'{self._name}: the first loss is {first[0]:.4f} with the inner '
              f'state and {first[1]:.4f} without', flush=True)

    def _anew(self):
        """Whoever takes the weights alone begins with a fresh optimizer."""
        name = f'{self._name}-anew'
        self._train(name, self._store(self._name), samples='anew', rounds=2)
        said = self._said(name)
        self._cases.check(f'{name} begins with a fresh optimizer', not said,
                          str(said))

    def _damaged(self):
        """A flipped bit is found by its hash."""
        store = os.path.join(self._cluster.directory, f'{self._name}-rotten')
        shutil.copytree(self._store(self._name), store)
        path = os.path.join(store, self._middle, _INNER)
        with open(path, 'r+b') as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        name = f'{self._name}-rotten'
        spec = copy.deepcopy(self._spec)
        spec['name'] = name
        spec['model']['checkpoint'] = {
            'path': store, 'name': self._middle, 'samples': 'go_on'}
        self._cluster.submit(spec)
        view = Progress(self._cluster, name, self._rounds, None,
                        stuck_after_s=60).wait()
        self._cases.check(
            'a damaged inner state ends the job with its reason',
            view['phase'] == 'JOB_PHASE_FAILED' and view['reason'].endswith(
                f'{self._middle}/{_INNER} does not have the hash that the '
                'manifest names'), f"{view['phase']} {view['reason']}")
