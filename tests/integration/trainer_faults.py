"""Trainers that fail, hang or differ: part of the suite `failures`.

Each situation is one function, and its cases are named after it.
"""

import hashlib
import json
import os
import struct
import shutil
import signal
import time

from local_cluster import checks
from local_cluster import logs
from local_cluster import pace
from local_cluster.cluster import LocalCluster
from local_cluster.islands import Island
from local_cluster.processes import children_of
from local_cluster.progress import Progress

_CONTEXT, _BATCH, _TAU = 32, 8, 12
# worker/core/trainer_watch.h, for steps that are shorter than this over 8.
_BAR_S = 10.0
# worker/core/trainer_failures.h
_TRAINERS_MAX = 5


def _entries(worker, event, number):
    """What the worker's log says of a job under this event."""
    return [entry for entry in logs.read(worker.daemon.log_path)
            if entry['event'] == event and entry['job'] == number]


def _starts(cluster, number):
    """Trainers that each worker has started for the job."""
    return {worker.name: len(_entries(worker, 'worker.trainer.start', number))
            for worker in cluster.workers}


def _fails(run, what, spec, words, trainers_max):
    """Two cases: the job fails with `words`, after few trainers a worker."""
    since = time.monotonic()
    run.fails(what, spec, words)
    took = time.monotonic() - since
    view = run.cluster.ctl.job(spec['name'])
    starts = _starts(run.cluster, int(view['id']))
    run.cases.check(
        f'{what}: it ends after at most {trainers_max} trainers a worker',
        max(starts.values()) <= trainers_max,
        f"{starts}, {view['counters']['lives']} lives, {took:.1f} s")


def wrong_token(run):
    """A shard with a token that the model does not have."""
    folder = os.path.join(run.place.directory, 'wrong_token')
    shutil.copytree(run.place.data(), folder)
    path = os.path.join(folder, 'train_000000.bin')
    with open(path, 'r+b') as file:
        # Every sample of the shard has one.
        tokens = os.path.getsize(path) - 1024
        for at in range(1024, 1024 + tokens, 2 * (_CONTEXT // 2)):
            file.seek(at)
            file.write((60000).to_bytes(2, 'little'))
    with open(path, 'rb') as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    manifest = os.path.join(folder, 'manifest.json')
    with open(manifest, encoding='utf-8') as file:
        listed = json.load(file)
    for shard in listed['shards']:
        if shard['file'] == 'train_000000.bin':
            shard['sha256'] = digest
    with open(manifest, 'w', encoding='utf-8') as file:
        json.dump(listed, file)
    spec = run.spec('wrong-token', workers=2)
    spec['data']['path'] = folder
    _fails(run, 'wrong tokens in a shard', spec,
           'the data hold token 60000 in sample', 1)


def not_finite(run):
    """Steps that are so long that the loss is soon not finite."""
    spec = run.spec('not-finite', rounds=50, workers=2, learning_rate=10,
                    warmup_fraction=0.0, clip_norm=1e30,
                    optimizer='INNER_OPTIMIZER_SGD', momentum=0.0)
    _fails(run, 'loss that is not finite', spec, 'is not finite at position',
           _TRAINERS_MAX)


def _numpy_file(run, name, tokens):
    """Writes bytes as tokens of 16 bits; returns the file's path."""
    path = os.path.join(run.place.directory, name)
    header = ("{'descr': '<u2', 'fortran_order': False, 'shape': "
              f"({len(tokens)},), }}")
    header += ' ' * (-(10 + len(header) + 1) % 64) + '\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) +
                   header.encode() +
                   struct.pack(f'<{len(tokens)}H', *tokens))
    return path


def no_validation(run):
    """Data without a validation split, and with one shorter than a sample."""
    ctl = run.cluster.ctl
    with open(os.path.join(run.place.directory, 'bible.txt'), 'rb') as file:
        some = file.read(20_000)
    tokens = _numpy_file(run, 'some.npy', some)
    short = _numpy_file(run, 'short.npy', some[:10])
    for what, name, split in (
            ('--validation 0', 'no-validation', ('--validation', '0')),
            ('a split shorter than a sample', 'short-validation',
             ('--validation-input', short))):
        folder = os.path.join(run.place.directory, name)
        ctl.run('data', 'import', '--out', folder, '--vocab-size', '256',
                *split, tokens)
        spec = run.spec(name, rounds=12, workers=2, evaluate_every=2)
        spec['data']['path'] = folder
        run.cluster.submit(spec)
        Progress(run.cluster, name, 12, None, stuck_after_s=60).wait()
        view = checks.end_of_job(run.cases, run.cluster, name)
        starts = _starts(run.cluster, int(view['id']))
        said = [event['message'] for event in ctl.json_lines('logs', name)
                if event['name'] == 'NotEvaluated']
        described = ctl.run('describe', 'job', name).decode()
        run.cases.check(
            f'no validation, {what}: one trainer a worker, an event, a line in '
            'describe',
            max(starts.values()) == 1 and len(said) == 1
            and 'Evaluation:' in described,
            f'{starts} {said} {view["reason"]}')


def stopped(run):
    """SIGSTOP of a trainer: it is ended and another one trains on."""
    cluster = run.cluster
    worker = cluster.worker('east0')
    rounds = pace.rounds(cluster, run.place.data(), _BATCH, _TAU, 20,
                         lasting_s=3 * _BAR_S)
    before = set(children_of(worker.daemon.pid))
    cluster.submit(run.spec('stopped', rounds=rounds, workers=2))
    run.until(lambda: int(cluster.ctl.job('stopped')['sequence']) >= 4)
    number = int(cluster.ctl.job('stopped')['id'])
    ready = _entries(worker, 'worker.trainer.ready', number)[-1]
    pid = ready['pid']
    since = time.monotonic()
    os.kill(pid, signal.SIGSTOP)
    doctor = ''
    while time.monotonic() - since < 3 * _BAR_S:
        if not doctor and time.monotonic() - since > 6:
            process = cluster.ctl.start('doctor')
            doctor = process.communicate(timeout=20)[0].decode()
        if _entries(worker, 'worker.trainer.ready', number)[-1]['pid'] != pid:
            break
        time.sleep(0.05)
    took = time.monotonic() - since
    failed = _entries(worker, 'worker.trainer.failed', number)
    run.cases.check(
        f'SIGSTOP of a trainer: another one is ready within {_BAR_S:.0f} s',
        took <= _BAR_S and pid not in children_of(worker.daemon.pid)
        and 'has not answered for' in json.dumps(failed),
        f'after {took:.2f} s, {len(before)} trainers before: '
        f'{json.dumps(failed)[-220:]}')
    lines = [line for line in doctor.splitlines() if 'job stopped' in line]
    run.cases.check(
        'SIGSTOP of a trainer: doctor names the worker and advises no codec',
        any('worker east0: the trainer has not answered' in line
            for line in lines)
        and not any('codec' in line for line in lines), ' | '.join(lines))
    Progress(cluster, 'stopped', rounds, None, stuck_after_s=60).wait()
    checks.end_of_job(run.cases, cluster, 'stopped')


def _sequence(cluster, name):
    return int(cluster.ctl.job(name)['sequence'])


def _pid(worker, number):
    """The process of the worker's newest trainer that was ready for the job."""
    return _entries(worker, 'worker.trainer.ready', number)[-1]['pid']


def _trains_again(run, cluster, what, name, worker, stop):
    """Checks that a trainer which `stop(its process)` hits is ended, that
    another one is ready within the bar, that the job trains on, and that doctor
    names the worker.

    The job trains on one island alone.
    """
    run.until(lambda: _sequence(cluster, name) >= 4)
    number = int(cluster.ctl.job(name)['id'])
    pid, before = _pid(worker, number), _sequence(cluster, name)
    since = time.monotonic()
    stop(pid)
    doctor, ready_s, took = '', 0.0, 0.0
    while not took and time.monotonic() - since < 3 * _BAR_S:
        now = time.monotonic() - since
        if not doctor and now > 6:
            # What it stands at; it was stopped within a round.
            before = _sequence(cluster, name)
            doctor = cluster.ctl.start('doctor').communicate(
                timeout=20)[0].decode()
        if not ready_s and _pid(worker, number) != pid:
            ready_s = now
        if ready_s and _sequence(cluster, name) > before:
            took = time.monotonic() - since
        time.sleep(0.05)
    failed = _entries(worker, 'worker.trainer.failed', number)
    run.cases.check(
        f'{what}: it is ended, and another one is ready within {_BAR_S:.0f} s',
        0 < ready_s <= _BAR_S and pid not in children_of(worker.daemon.pid),
        f'after {ready_s:.2f} s: {json.dumps(failed)[-220:]}')
    run.cases.check(f'{what}: the job trains on', took > 0,
                    f'the next commit comes after {took:.2f} s')
    lines = [line for line in doctor.splitlines() if f'job {name}' in line]
    run.cases.check(f'{what}: doctor names the worker',
                    any(f'worker {worker.name}: the trainer' in line
                        for line in lines), ' | '.join(lines))
    return failed


def stands_still(run):
    """A step that never ends, in a trainer that answers all the while."""
    cluster = _odd_cluster(run, 'stands_still')

    def stop(_):
        with open(os.path.join(run.place.directory, 'stands_still'), 'wb'):
            pass

    try:
        rounds = pace.rounds(cluster, run.place.data(), _BATCH, _TAU, 20, ['b'],
                             lasting_s=2 * _BAR_S)
        spec = run.spec('still', rounds=rounds, islands=['b'])
        cluster.submit(spec)
        failed = _trains_again(run, cluster, 'a step that never ends', 'still',
                               cluster.worker('b0'), stop)
        run.cases.check(
            'a step that never ends: the reason is that the work stands still',
            len(failed) == 1 and 'answers, but its work has stood still'
            in json.dumps(failed), json.dumps(failed)[-220:])
        Progress(cluster, 'still', rounds, None, stuck_after_s=60).wait()
        checks.end_of_job(run.cases, cluster, 'still')
    finally:
        cluster.stop()


def one_of_an_island(run):
    """SIGSTOP of one of two trainers that sum their gradients: the other one,
    which waits for it, stays."""
    cluster = run.place.cluster(lambda programs, directory: LocalCluster(
        programs, directory, [Island('pair', 2)]))
    cluster.start()
    cluster.retry('get', 'jobs')
    what = 'SIGSTOP of one trainer of an island of two'
    try:
        rounds = pace.rounds(cluster, run.place.data(), _BATCH, _TAU, 20,
                             lasting_s=2 * _BAR_S)
        cluster.submit(run.spec('pair', rounds=rounds, workers=2))
        failed = _trains_again(
            run, cluster, what, 'pair', cluster.worker('pair1'),
            lambda pid: os.kill(pid, signal.SIGSTOP))
        number = int(cluster.ctl.job('pair')['id'])
        starts = _starts(cluster, number)
        run.cases.check(
            f'{what}: only that one is ended',
            starts == {'pair0': 1, 'pair1': 2} and len(failed) == 1
            and 'has not answered for' in json.dumps(failed),
            f'{starts}, {json.dumps(failed)[-220:]}')
        Progress(cluster, 'pair', rounds, None, stuck_after_s=60).wait()
        checks.end_of_job(run.cases, cluster, 'pair')
    finally:
        cluster.stop()


def _odd_cluster(run, fault):
    """A cluster of two workers of which b0 has a trainer with the fault."""
    cluster = run.place.cluster(lambda programs, directory: LocalCluster(
        programs, directory, [Island('a'), Island('b')]))
    daemon = cluster.worker('b0').daemon
    daemon.argv += ['--trainer', run.program('odd_trainer')]
    daemon.environment = {
        'SKERRY_TEST_TRAINER': fault,
        'SKERRY_TEST_FILE': os.path.join(run.place.directory, fault)}
    cluster.start()
    cluster.retry('get', 'jobs')
    return cluster


def other_values(run):
    """Unequal initial values: the worker is left out, with one line."""
    cluster = _odd_cluster(run, 'other_values')
    try:
        spec = run.spec('values', rounds=20, workers=1)
        cluster.submit(spec)
        said = ''
        deadline = time.monotonic() + 20
        while 'begins with other values' not in said:
            if time.monotonic() > deadline:
                break
            said = cluster.ctl.run('describe', 'job', 'values').decode()
            said += cluster.ctl.start('doctor').communicate()[0].decode()
            time.sleep(0.05)
        Progress(cluster, 'values', 20, None, stuck_after_s=60).wait()
        view = checks.end_of_job(run.cases, cluster, 'values')
        lives = int(view['counters']['lives'])
        run.cases.check('unequal initial values: the job trains in one life on '
                        'the others', lives == 1, f'{lives} lives')
        refused = [line for line in said.splitlines()
                   if 'begins with other values' in line]
        run.cases.check('unequal initial values: the worker is left out with '
                        'one line', bool(refused), ' | '.join(refused))
        # Where every worker is needed, the job says what it waits for.
        both = run.spec('both', rounds=4, workers=2)
        cluster.submit(both)
        reason = ''
        deadline = time.monotonic() + 20
        while 'other values' not in reason and time.monotonic() < deadline:
            reason = cluster.ctl.job('both')['reason']
            time.sleep(0.1)
        run.cases.check('unequal initial values: a job that needs both says so',
                        'begins with other values' in reason, reason)
        cluster.ctl.run('cancel', 'both')
    finally:
        cluster.stop()


def last_words(run):
    """A trainer that says why and exits: the words win over the exit code."""
    cluster = _odd_cluster(run, 'dies_in_run')
    try:
        cluster.submit(run.spec('words', rounds=4000, workers=2))
        worker = cluster.worker('b0')
        said = ''
        deadline = time.monotonic() + 20
        while 'fallen off the bus' not in said and time.monotonic() < deadline:
            said = '\n'.join(event['message'] for event
                             in cluster.ctl.json_lines('logs', 'words'))
            time.sleep(0.1)
        number = int(cluster.ctl.job('words')['id'])
        failed = json.dumps(_entries(worker, 'worker.trainer.failed', number))
        lines = [line for line in said.splitlines() if 'off the bus' in line]
        run.cases.check(
            'a trainer that says why and exits: its words are in the events',
            bool(lines) and 'off the bus' in failed
            and 'code 3' not in said + failed, f'{lines[:1]} {failed[-120:]}')
        states = set()
        deadline = time.monotonic() + 30
        while 'failed' not in states and time.monotonic() < deadline:
            states = {job['state'] for entry in
                      [cluster.ctl.json('get', 'job', 'words')]
                      for replica in entry['replicas']
                      for job in replica['seats']
                      if job['worker'] == 'b0'}
            if len(_entries(worker, 'worker.job.unserved', number)) == 1:
                states.add('failed')
            time.sleep(0.1)
        starts = _starts(cluster, number)
        run.cases.check(
            'a trainer that fails for ever: its worker is left out after '
            f'{_TRAINERS_MAX} of them, and the other goes on',
            'failed' in states and starts['b0'] == _TRAINERS_MAX
            and starts['a0'] == 1, f'{starts}')
        cluster.ctl.run('cancel', 'words')
    finally:
        cluster.stop()


def all_of(run):
    """All situations, on the suite's cluster or on one of their own."""
    wrong_token(run)
    not_finite(run)
    no_validation(run)
    stopped(run)
    stands_still(run)
    one_of_an_island(run)
    other_values(run)
    last_words(run)
