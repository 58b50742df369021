"""Mistakes about who is who and what was: two processes with one name, a worker
that cannot serve a job, a stopped coordinator, an older journal."""

import json
import os
import shutil
import signal
import subprocess
import time

from local_cluster import checks
from local_cluster import logs
from local_cluster.cluster import LocalCluster
from local_cluster.ctl import CtlError
from local_cluster.islands import Island
from local_cluster.processes import Daemon
from local_cluster.processes import children_of
from local_cluster.progress import Progress

_ISLANDS = [Island('north'), Island('east')]
# docs/worker.md, docs/skerryctl.md
_NAME_TAKEN, _CONFLICT = 4, 4
_LEASE_S = 3.0
_MANY_ROUNDS = 100_000  # it is cancelled


def _said(daemon, event):
    return [entry for entry in logs.read(daemon.log_path)
            if entry['event'] == event]


def _left(cluster, name):
    events = cluster.ctl.json_lines('events', '--worker', name)
    return [event for event in events if event['name'] == 'WorkerLeft']


def _sequence(cluster, name):
    view = cluster.ctl.job(name)
    return int(view['sequence']) if view else 0


def _commits(run, cluster, name, more=2):
    """Waits for so many commits more."""
    before = _sequence(cluster, name)
    return run.until(lambda: _sequence(cluster, name) >= before + more)


def _given_out_again(cluster, name):
    """Samples that the job has given out more than once."""
    return int(cluster.ctl.json('audit', 'data', name)['samples_returned'])


def _doctor(cluster):
    """Exit code and text of `skerryctl doctor`."""
    process = cluster.ctl.start('doctor')
    text = process.communicate(timeout=60)[0].decode()
    return process.returncode, text


def _worker_again(run, cluster, name, state, log):
    """Another process with the name of a worker of the cluster."""
    argv = list(cluster.worker(name).daemon.argv)
    argv[argv.index('--state') + 1] = state
    argv[argv.index('--listen') + 1] = '127.0.0.1:0'
    argv[argv.index('--run-dir') + 1] = state
    return Daemon(name + '-again', argv,
                  os.path.join(run.place.directory, log))


def one_name_twice(run, cluster):
    """The second process is refused; a restart of the first is not."""
    check, first = run.cases.check, cluster.worker('north0').daemon
    address = first.argv[first.argv.index('--listen') + 1]
    cluster.submit(run.spec('names', rounds=_MANY_ROUNDS, workers=2))
    _commits(run, cluster, 'names')
    lives = cluster.ctl.job('names')['counters']['lives']
    returned = _given_out_again(cluster, 'names')
    second = _worker_again(run, cluster, 'north0', run.folder('twin'),
                           'twin.log')
    done = subprocess.run(second.argv, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=20, check=False)
    last = done.stderr.decode().strip().splitlines()[-1]
    check(f'one name twice: the second process exits {_NAME_TAKEN} and names '
          'the first', done.returncode == _NAME_TAKEN
          and f'worker north0 is another process, at {address}, with another '
          'state folder' in last, f'exit {done.returncode}: {last}')
    _commits(run, cluster, 'names')
    check('and the first works on in its life',
          cluster.ctl.job('names')['counters']['lives'] == lives)
    again = _given_out_again(cluster, 'names')
    check('and no sample is given out again', again == returned,
          f'{returned} samples before, {again} now')
    code, text = _doctor(cluster)
    check('and doctor says so',
          code == _CONFLICT and 'two processes have this name' in text, text)
    first.kill()
    started = time.monotonic()
    first.start()
    run.until(lambda: len(_said(first, 'worker.admitted')) >= 2)
    took = time.monotonic() - started
    check('a restart of its state folder takes the place over at once',
          took < _LEASE_S and not _left(cluster, 'north0'), f'{took:.1f} s')
    first.kill()
    second.start()
    try:
        run.until(lambda: _said(second, 'worker.admitted'))
        check('another folder takes the name when the lease has ended',
              len(_left(cluster, 'north0')) == 1
              and bool(_said(second, 'worker.admitted')), second.tail(3))
        first.start()
        run.until(lambda: first.exit_code() is not None)
        check('and the first is the second then',
              first.exit_code() == _NAME_TAKEN, str(first.exit_code()))
    finally:
        second.kill()
    first.start()
    run.until(lambda: len(_said(first, 'worker.admitted')) >= 3)
    _commits(run, cluster, 'names')
    cluster.ctl.run('cancel', 'names')


def coordinator_asleep(run, cluster):
    """A coordinator that was stopped takes nobody's lease away."""
    check = run.cases.check
    cluster.submit(run.spec('asleep', rounds=_MANY_ROUNDS, workers=2))
    _commits(run, cluster, 'asleep')
    before = [len(_left(cluster, w.name)) for w in cluster.workers]
    lives = cluster.ctl.job('asleep')['counters']['lives']
    os.kill(cluster.coordinator.pid, signal.SIGSTOP)
    time.sleep(2.5 * _LEASE_S)
    os.kill(cluster.coordinator.pid, signal.SIGCONT)
    _commits(run, cluster, 'asleep')
    time.sleep(1.5 * _LEASE_S)
    after = [len(_left(cluster, w.name)) for w in cluster.workers]
    view = cluster.ctl.job('asleep')
    check('stopped coordinator: no lease and no life ends of it',
          after == before and view['counters']['lives'] == lives,
          f"left {before} then {after}, lives {lives} then "
          f"{view['counters']['lives']}")
    check('and it says for how long it slept',
          len(_said(cluster.coordinator, 'coordinator.slept')) >= 1)
    worker = cluster.worker('east0').daemon
    trainers = children_of(worker.pid)
    os.kill(worker.pid, signal.SIGSTOP)
    time.sleep(0.6 * _LEASE_S)
    os.kill(worker.pid, signal.SIGCONT)
    _commits(run, cluster, 'asleep')
    view = cluster.ctl.job('asleep')
    check('stopped worker: within a lease nothing ends of it',
          view['counters']['lives'] == lives
          and children_of(worker.pid) == trainers)
    cluster.ctl.run('cancel', 'asleep')


def _row(cluster, job, worker):
    """The worker's seats in the job's view."""
    view = cluster.ctl.job(job)
    return [seat for replica in view['replicas'] for seat in replica['seats']
            if seat['worker'] == worker]


def _events(cluster, job, name):
    return [event['message'] for event in cluster.ctl.json_lines('logs', job)
            if event['name'] == name]


def data_moved_away(run, cluster):
    """It stays visible with the reason, and comes back by itself."""
    check, worker = run.cases.check, cluster.worker('east0').daemon
    data = os.path.join(run.place.directory, 'moved')
    shutil.copytree(run.place.data(), data)
    spec = run.spec('unserved', rounds=_MANY_ROUNDS, workers=2)
    spec['data']['path'] = data
    cluster.submit(spec)
    _commits(run, cluster, 'unserved')
    os.rename(data, data + '-away')
    for pid in children_of(worker.pid):
        os.kill(pid, signal.SIGKILL)
    run.until(lambda: any('manifest.json' in seat['error']
                          for seat in _row(cluster, 'unserved', 'east0')))
    rows = _row(cluster, 'unserved', 'east0')
    check('data moved away: the worker stays in describe job with the reason',
          len(rows) == 1 and 'manifest.json' in rows[0]['error'],
          json.dumps(rows))
    text = cluster.ctl.run('describe', 'worker', 'east0').decode()
    check('and in describe worker', 'Cannot serve' in text, text)
    check('and as an event',
          len(_events(cluster, 'unserved', 'WorkerCannotServe')) >= 1)
    code, text = _doctor(cluster)
    check('and in doctor', code == _CONFLICT and 'worker east0: ' in text, text)
    check('and the others go on', bool(_commits(run, cluster, 'unserved')))
    os.rename(data + '-away', data)
    back = run.until(lambda: any(
        seat['state'] == 'active'
        for seat in _row(cluster, 'unserved', 'east0')))
    check('and it comes back by itself',
          bool(back)
          and len(_events(cluster, 'unserved', 'WorkerServesAgain')) >= 1,
          json.dumps(_row(cluster, 'unserved', 'east0')))
    cluster.ctl.run('cancel', 'unserved')


def job_folder_removed(run, cluster):
    """A folder that is removed under a worker is made again."""
    check, worker = run.cases.check, cluster.worker('east0').daemon
    jobs = os.path.join(cluster.state_of('east0'), 'jobs')
    cluster.submit(run.spec('folder', rounds=_MANY_ROUNDS, workers=2))
    _commits(run, cluster, 'folder')
    gone = len(_said(worker, 'worker.store.gone'))
    # In one step, since the worker goes on writing into it.
    os.rename(jobs, jobs + '-removed')
    shutil.rmtree(jobs + '-removed')
    run.until(lambda: len(_said(worker, 'worker.store.gone')) > gone)
    check('job folder removed: it is made again and the job goes on',
          bool(_commits(run, cluster, 'folder')) and os.path.isdir(jobs),
          json.dumps(_row(cluster, 'folder', 'east0')))
    number = cluster.ctl.job('folder')['id']
    folder = next(os.path.join(jobs, name) for name in os.listdir(jobs)
                  if name.startswith(f'{number}-')
                  and os.path.isdir(os.path.join(jobs, name)))
    worker.kill()
    shutil.rmtree(folder)
    with open(folder, 'w', encoding='ascii') as file:
        file.write('no folder')
    worker.start()
    run.until(lambda: any(seat['error'] for seat in
                          _row(cluster, 'folder', 'east0')))
    rows = _row(cluster, 'folder', 'east0')
    check('job folder that cannot be used: visible with the reason',
          len(rows) == 1 and folder in rows[0]['error'], json.dumps(rows))
    os.remove(folder)
    back = run.until(lambda: any(
        seat['state'] == 'active' for seat in _row(cluster, 'folder', 'east0')))
    check('and it comes back by itself', bool(back),
          json.dumps(_row(cluster, 'folder', 'east0')))
    cluster.ctl.run('cancel', 'folder')


class OldJournal:
    """A job whose coordinator is put back on a journal of some time ago."""

    def __init__(self, run, name, rounds):
        self.run, self.name, self.rounds = run, name, rounds
        self.cluster = run.place.cluster(
            lambda programs, directory: LocalCluster(
                programs, directory, _ISLANDS, lease_s=_LEASE_S))
        self.cluster.start()
        spec = run.spec(name, rounds=rounds, workers=2)
        self.checkpoints = os.path.join(self.cluster.directory, 'saved')
        spec['checkpoint'] = {'directory': self.checkpoints, 'every': 5}
        self.cluster.submit(spec)
        self.state = os.path.join(self.cluster.directory, 'coordinator')
        self.copied = self.lost = 0

    def put_back(self, more, saved=False, meanwhile=lambda: None):
        """Copies the journal, lets `more` commits come, and puts it back.

        With `saved` it also waits for a checkpoint that the copy lacks.
        `meanwhile` runs while the coordinator is down.
        """
        _commits(self.run, self.cluster, self.name, 3)
        coordinator = self.cluster.coordinator
        coordinator.kill()
        shutil.copytree(self.state, self.state + '-copy')
        coordinator.start()
        self.cluster.retry('get', 'jobs')
        self.copied = _sequence(self.cluster, self.name)
        _commits(self.run, self.cluster, self.name, more)
        self.run.until(lambda: not saved or int(
            self.cluster.ctl.job(self.name).get('checkpoint', 0)) >
            self.copied)
        coordinator.kill()
        meanwhile()
        shutil.rmtree(self.state)
        os.rename(self.state + '-copy', self.state)
        coordinator.start()
        self.cluster.retry('get', 'jobs')

    def saved(self):
        """{sequence: folder} of the checkpoints that the folder has.

        A worker that was killed leaves one without a manifest.
        """
        return {int(name.split('-')[1]): os.path.join(self.checkpoints, name)
                for name in os.listdir(self.checkpoints)
                if os.path.exists(os.path.join(self.checkpoints, name,
                                               'skerry-checkpoint.json'))}

    def stands(self):
        """The job's view once it stands."""
        def diverged():
            view = self.cluster.ctl.job(self.name)
            if view and view['phase'] == 'JOB_PHASE_DIVERGED':
                return view
            return None
        return self.run.until(diverged) or self.cluster.ctl.job(self.name)

    def finishes(self, what, raised=True):
        """With `raised`, a worker has told of the numbers that were lost."""
        Progress(self.cluster, self.name, self.rounds, None,
                 stuck_after_s=60).wait()
        checks.end_of_job(self.run.cases, self.cluster, self.name)
        terms = [int(entry['term']) for entry in
                 logs.read(self.cluster.coordinator.log_path)
                 if entry['event'] == 'coordinator.serving']
        self.run.cases.check(
            f'{what}: the term rises at every start',
            terms == sorted(set(terms)) and len(terms) > 1, str(terms))
        numbers = [int(event['revision']) for event in
                   self.cluster.ctl.json_lines('logs', self.name)]
        self.run.cases.check(f'{what}: no number is used twice',
                             len(numbers) == len(set(numbers))
                             and (max(numbers) > 1 << 20) == raised)


def _rounds_of(run):
    return max(60, 3 * run.rounds)


def older_journal_workers(run):
    """The job stands, says why, and goes on with what workers hold."""
    check = run.cases.check
    old = OldJournal(run, 'older', _rounds_of(run))
    cluster = old.cluster
    try:
        old.put_back(8)
        view = old.stands()
        check('older journal: the job stands and says why',
              view['phase'] == 'JOB_PHASE_DIVERGED'
              and 'an older journal was put in place' in view['reason'],
              f"{view['phase']}: {view['reason']}")
        check('and as an event',
              len(_events(cluster, 'older', 'JobDiverged')) == 1)
        code, text = _doctor(cluster)
        check('and in doctor', code == _CONFLICT
              and 'an older journal was put in place' in text, text)
        try:
            cluster.ctl.run('wait', 'job', 'older', '--for', 'succeeded',
                            '--timeout', '30s')
            code, said = 0, ''
        except CtlError as error:
            code, said = error.code, str(error)
        check(f'and wait exits {_CONFLICT}', code == _CONFLICT
              and 'is diverged' in said, f'exit {code}: {said}')
        # Until every worker has said what it holds.
        def restored():
            try:
                cluster.ctl.run('restore', 'older', '--from-workers')
                return True
            except CtlError as error:
                return error.code != _CONFLICT and str(error)
        check('what workers hold is kept', run.until(restored) is True,
              cluster.ctl.job('older')['reason'])
        check('and the job goes on from there',
              bool(_commits(run, cluster, 'older'))
              and _sequence(cluster, 'older') > old.copied + 8,
              f"sequence {_sequence(cluster, 'older')}, the journal had "
              f'{old.copied}')
        old.finishes('older journal')
    finally:
        cluster.stop()


def older_journal_checkpoint(run):
    """The job goes back to a checkpoint of which the journal knows nothing."""
    old = OldJournal(run, 'older-saved', _rounds_of(run))
    cluster = old.cluster
    try:
        old.put_back(12, saved=True)
        old.stands()
        newest = max(old.saved())
        cluster.ctl.run('restore', 'older-saved', '--checkpoint', 'newest')
        went_back = _events(cluster, 'older-saved', 'JobRestored')
        run.cases.check(
            'older journal: the job goes back to a newer checkpoint',
            newest > old.copied and len(went_back) == 1
            and f'checkpoint-{newest},' in went_back[0],
            f'journal {old.copied}: {went_back}')
        old.finishes('newer checkpoint')
    finally:
        cluster.stop()


def older_journal_and_nothing_left(run):
    """No disk has the state, and the checkpoint that the journal knows is gone.

    The job says what the operator can do, and goes on from a newer checkpoint.
    """
    old = OldJournal(run, 'older-lost', _rounds_of(run))
    cluster, check = old.cluster, run.cases.check

    def lose():
        for worker in cluster.workers:
            worker.daemon.kill()
            shutil.rmtree(cluster.state_of(worker.name))
        for sequence, folder in old.saved().items():
            if sequence <= old.copied:
                shutil.rmtree(folder)
        for worker in cluster.workers:
            worker.daemon.start()

    def reason():
        view = cluster.ctl.job('older-lost')
        return view['reason'] if view else ''

    try:
        # So that the journal that comes back knows a checkpoint.
        run.until(lambda: int(cluster.ctl.job('older-lost').get(
            'checkpoint', 0)) > 0)
        old.put_back(12, saved=True, meanwhile=lose)
        told = 'skerryctl restore older-lost --checkpoint newest'
        run.until(lambda: told in reason())
        check('older journal and nothing left: the job says what to do',
              told in reason(), reason())
        newest = max(old.saved())
        cluster.ctl.run('restore', 'older-lost', '--checkpoint', 'newest')
        went_back = _events(cluster, 'older-lost', 'JobRestored')
        check('and goes back to the newest checkpoint of the folder',
              newest > old.copied
              and f'checkpoint-{newest},' in went_back[-1],
              f'journal {old.copied}: {went_back}')
        old.finishes('nothing left', raised=False)
    finally:
        cluster.stop()


def situations(run):
    """All of them; the first ones on one cluster."""
    cluster = run.place.cluster(lambda programs, directory: LocalCluster(
        programs, directory, _ISLANDS, lease_s=_LEASE_S))
    cluster.start()
    cluster.retry('get', 'jobs')
    try:
        one_name_twice(run, cluster)
        coordinator_asleep(run, cluster)
        data_moved_away(run, cluster)
        job_folder_removed(run, cluster)
    finally:
        cluster.stop()
    older_journal_workers(run)
    older_journal_checkpoint(run)
    older_journal_and_nothing_left(run)
