"""Data sets in an object store: workers without any data folder train on them.

The cases of the suite object_store that are about data.
"""

import hashlib
import json
import os
import shutil
import time

import object_server
from local_cluster import checks
from local_cluster import ctl
from local_cluster import job
from local_cluster import metrics
from local_cluster.cluster import LocalCluster
from local_cluster.islands import Island
from local_cluster.progress import Progress

_ISLANDS = [Island('north'), Island('east'), Island('west')]
_CONTEXT, _BATCH, _TAU, _ROUNDS = 32, 4, 8, 6
_SHARD_TOKENS = 200_000
# The cache has room for one of these data sets and a half.
_CACHE_SETS = 1.5
_WITHIN_S = 60
# Each answer of the store takes so long, for a worker to be killed meanwhile.
_SLOW_S = 0.3


def place_of(name):
    return f's3://lab@{object_server.BUCKET}/data/{name}'


class Sets:
    """Data sets that are in the store and in no folder that workers know."""

    def __init__(self, place, cluster_ctl):
        self._place, self._ctl = place, cluster_ctl
        self._text = os.path.join(place.directory, 'bible.txt')
        self.manifests = {}

    def push(self, name, validation):
        """What `data push` said, the first time and the second."""
        folder = os.path.join(self._place.directory, f'prepared-{name}')
        self._ctl.run('data', 'prepare', '--out', folder, '--validation',
                      validation, '--shard-tokens', str(_SHARD_TOKENS),
                      self._text)
        said = [self._ctl.run('data', 'push', folder,
                              place_of(name)).decode().strip()
                for _ in range(2)]
        with open(os.path.join(folder, 'manifest.json'), 'rb') as file:
            self.manifests[name] = file.read()
        self.bytes = sum(entry.stat().st_size for entry in os.scandir(folder))
        shutil.rmtree(folder)
        return said

    def sha256(self, name):
        return hashlib.sha256(self.manifests[name]).hexdigest()

    def shards(self, name):
        return json.loads(self.manifests[name])['shards']


def cache_of(cluster, worker):
    return os.path.join(cluster.state_of(worker.name), 'cache')


def cached_bytes(cluster, worker):
    """Bytes below the worker's cache, with what is on its way."""
    total = 0
    for folder, _, names in os.walk(cache_of(cluster, worker)):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(folder, name))
            except FileNotFoundError:
                pass  # it has just got its name, or was removed
    return total


def damaged(cluster, worker, sets):
    """Files of the cache that have other bytes than their names stand for."""
    found = []
    for name in sets.manifests:
        folder = os.path.join(cache_of(cluster, worker), 'data',
                              sets.sha256(name))
        for shard in sets.shards(name):
            path = os.path.join(folder, shard['file'])
            if not os.path.exists(path):
                continue
            with open(path, 'rb') as file:
                if hashlib.sha256(file.read()).hexdigest() != shard['sha256']:
                    found.append(path)
    return found


def spec_of(cluster, sets, name, data, seed, path=None):
    spec = job.job(name, path or place_of(data),
                   job.gpt2_config(2, 64, 2, _CONTEXT),
                   len(cluster.workers) * _BATCH * _TAU * _ROUNDS, _BATCH,
                   _TAU, seed=seed, workers_min=len(cluster.workers))
    if path:
        spec['data']['manifest_sha256'] = sets.sha256(data)
    return spec


def train(cases, cluster, name):
    Progress(cluster, name, _ROUNDS, None, stuck_after_s=_WITHIN_S).wait()
    checks.end_of_job(cases, cluster, name)


def line_with(cluster, name, words):
    """The first line of `describe job` with these words, once there is one."""
    until = time.monotonic() + _WITHIN_S
    while True:
        text = cluster.ctl.run('describe', 'job', name).decode()
        for line in text.splitlines():
            if words in line:
                return line.strip()
        if time.monotonic() > until:
            return f'nothing with "{words}": {text[-600:]}'
        time.sleep(0.1)


def trains_without_a_folder(cases, cluster, sets, seed):
    said = sets.push('first', '0.05')
    cases.check('data push copies a data set, and not twice',
                'MiB' in said[0] and 'already' in said[1], '; '.join(said))
    cluster.submit(spec_of(cluster, sets, 'fed', 'first', seed))
    train(cases, cluster, 'fed')
    told = [metrics.read(worker.admin_port) for worker in cluster.workers]
    fetched = [one['skerry_worker_data_fetched_bytes_total'] for one in told]
    waited = [one['skerry_worker_data_wait_seconds_total'] for one in told]
    cases.check('each worker fetched each shard once, and says how long',
                0.9 * sets.bytes <= min(fetched) <= max(fetched) <= sets.bytes
                and min(waited) > 0,
                f'{fetched} of {sets.bytes} bytes, waited '
                + ', '.join(f'{one:.2f} s' for one in waited))
    cluster.submit(spec_of(cluster, sets, 'fed-again', 'first', seed))
    train(cases, cluster, 'fed-again')
    again = [metrics.read(worker.admin_port)
             ['skerry_worker_data_fetched_bytes_total']
             for worker in cluster.workers]
    cases.check('a second job with the same data fetches nothing',
                again == fetched, f'{again}')


def killed_while_it_fetches(cases, cluster, store, sets, limit, seed):
    sets.push('second', '0.2')
    victim = cluster.workers[0]
    begun = metrics.read(victim.admin_port)
    store.proxy.answer_after_s = _SLOW_S
    cluster.submit(spec_of(cluster, sets, 'killed', 'second', seed))
    waits = line_with(cluster, 'killed', 'still being fetched')
    cases.check('a job whose workers fetch says so', place_of('second')
                in waits, waits)
    name = 'skerry_worker_data_fetched_bytes_total'
    largest = 0
    until = time.monotonic() + _WITHIN_S
    while (metrics.read(victim.admin_port)[name] == begun[name]
           and time.monotonic() < until):
        time.sleep(0.02)
    victim.daemon.kill()
    folder = os.path.join(cache_of(cluster, victim), 'data',
                          sets.sha256('second'))
    there = os.listdir(folder) if os.path.isdir(folder) else []
    wrong = damaged(cluster, victim, sets)
    cases.check('a worker killed while it fetches leaves no half file',
                0 < len(there) < len(sets.shards('second')) and not wrong,
                f'{len(there)} of {len(sets.shards("second"))} files, {wrong}')
    victim.daemon.start()
    store.proxy.answer_after_s = 0
    while (cluster.ctl.job('killed')['phase'] == 'JOB_PHASE_PENDING'
           and time.monotonic() < until + _WITHIN_S):
        largest = max([largest, *(cached_bytes(cluster, worker)
                                  for worker in cluster.workers)])
        time.sleep(0.02)
    train(cases, cluster, 'killed')
    largest = max([largest, *(cached_bytes(cluster, worker)
                              for worker in cluster.workers)])
    removed = [metrics.read(worker.admin_port)
               ['skerry_worker_data_removed_bytes_total']
               for worker in cluster.workers[1:]]
    cases.check('no cache was ever larger than its limit',
                sets.bytes < largest <= limit and min(removed) > 0,
                f'{largest} of {limit} bytes, {removed} were removed')
    wrong = [path for worker in cluster.workers
             for path in damaged(cluster, worker, sets)]
    cases.check('every cached shard has the hash of the manifest', not wrong,
                str(wrong))


def wrong_byte_is_named(cases, cluster, store, sets, seed):
    sets.push('third', '0.3')
    shard = sets.shards('third')[3]['file']
    good = store.server.read(f'data/third/{shard}')
    bad = bytearray(good)
    bad[5000] ^= 1
    store.server.write(f'data/third/{shard}', bytes(bad))
    cluster.submit(spec_of(cluster, sets, 'wrong', 'third', seed))
    line = line_with(cluster, 'wrong', 'has the SHA-256')
    cases.check('a wrong byte in the store is named, with its place and shard',
                place_of('third') in line and shard in line, line)
    store.server.remove(f'data/third/{shard}')
    line = line_with(cluster, 'wrong', 'HTTP 404')
    cases.check('and so is a shard that is not there', shard in line, line)
    store.server.write(f'data/third/{shard}', good)
    train(cases, cluster, 'wrong')


def refusals(cases, cluster, sets, seed):
    for what, where, words in (
            ('a profile that is not there',
             f's3://none@{object_server.BUCKET}/data/first',
             'there are no credentials'),
            ('a wrong secret', f's3://wrong@{object_server.BUCKET}/data/first',
             'bucket ' + object_server.BUCKET),
            ('a bucket that is not there', 's3://lab@nowhere/first',
             'nowhere')):
        name = 'refused-' + words.rsplit(' ', maxsplit=1)[-1]
        path = os.path.join(cluster.directory, name + '.yaml')
        spec = spec_of(cluster, sets, name, 'first', seed, where)
        sha256 = spec['data'].pop('manifest_sha256')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(spec, file)
        try:
            said = cluster.ctl.run('submit', '-f', path).decode()
        except ctl.CtlError as error:
            said = str(error)
        cases.check(f'{what}: submit says so', words in said
                    and 'data.path' in said, said.strip())
        spec['data']['manifest_sha256'] = sha256
        # The workers have this set; another hash makes them ask the store.
        spec['data']['manifest_sha256'] = sha256[::-1]
        cluster.submit(spec)
        line = line_with(cluster, name, f'data.path {where}: ')
        cases.check(f'{what}: the job says so, and is tried again',
                    words in line and 'tried again by itself' in line, line)
        phase = cluster.ctl.job(name)['phase']
        cases.check(f'{what}: the job waits', phase == 'JOB_PHASE_PENDING',
                    phase)
        cluster.ctl.run('cancel', name, '--yes')


def run(place, cases, store, seed):
    """All cases, in a cluster of their own, which is returned."""
    place.data()
    text = os.path.getsize(os.path.join(place.directory, 'bible.txt'))
    # Bytes are tokens of two bytes.
    limit = int(_CACHE_SETS * 2 * text)
    cluster = place.cluster(lambda programs, directory: LocalCluster(
        programs, directory, _ISLANDS, admin=True,
        worker_flags=['--data-cache-gib', str(limit / 2**30)]))
    cluster.start()
    sets = Sets(place, cluster.ctl)
    trains_without_a_folder(cases, cluster, sets, seed)
    killed_while_it_fetches(cases, cluster, store, sets, limit, seed)
    wrong_byte_is_named(cases, cluster, store, sets, seed)
    refusals(cases, cluster, sets, seed)
    return cluster
