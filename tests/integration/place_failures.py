"""Workers that move, or stand where their island is not: part of `failures`.

Each situation is one function, and its cases are named after it.
"""

import os
import subprocess

from local_cluster import checks
from local_cluster import pace
from local_cluster.ports import free_port
from local_cluster.processes import Daemon
from local_cluster.progress import Progress

_BATCH, _TAU = 8, 12
_APART = ('which came to island north first, and both meet others in shared '
          'memory only')


def _workers(run):
    return {worker['worker']: worker for worker in
            run.cluster.ctl.json('get', 'workers')['workers']}


def moved_worker(run):
    """A worker is killed and comes back on another port, in mid-job."""
    cluster, check = run.cluster, run.cases.check
    rounds = pace.rounds(cluster, run.place.data(), _BATCH, _TAU, 40,
                         lasting_s=8.0)
    cluster.submit(run.spec('moved', rounds=rounds, workers=2))

    def sequence():
        return int(cluster.ctl.job('moved')['sequence'])

    run.until(lambda: sequence() >= 3)
    before = _workers(run)
    daemon = cluster.worker('east0').daemon
    daemon.kill()
    port = free_port()
    daemon.argv[daemon.argv.index('--listen') + 1] = f'127.0.0.1:{port}'
    daemon.start()
    check('moved worker: it is known at its new address', bool(run.until(
        lambda: _workers(run)['east0']['address'] == f'127.0.0.1:{port}')),
        str(_workers(run)['east0']))
    check('and the other one is where it was',
          _workers(run)['north0']['address'] == before['north0']['address'])

    def both():
        replicas = cluster.ctl.job('moved')['replicas']
        return len(replicas) == 2 and all(int(r.get('life', 0))
                                          for r in replicas)

    check('it has a life again', bool(run.until(both)),
          str(cluster.ctl.job('moved')['replicas']))
    at = sequence()
    check('and exchanges go on', bool(run.until(lambda: sequence() > at + 2)))
    links = _workers(run)['north0'].get('links', [])
    check('the other one has a link to its name',
          [link['worker'] for link in links] == ['east0'], str(links))
    Progress(cluster, 'moved', rounds, None, stuck_after_s=60).wait()
    view = checks.end_of_job(run.cases, cluster, 'moved')
    check('no life has ended but its own',
          int(view['counters']['lives']) == 3, view['counters']['lives'])


def another_host(run):
    """Workers of an island do not all see the memory that the others share."""
    cluster, check = run.cluster, run.cases.check
    private = ['unshare', '--mount', 'sh', '-c',
               'mount -t tmpfs tmpfs /dev/shm && exec "$@"', 'sh']
    if subprocess.run([*private, 'true'], stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        print('skipped: /dev/shm cannot be made private', flush=True)
        return

    def start(folder, *more):
        worker = run.worker(run.folder(folder), '--run-dir',
                            os.path.join(cluster.directory, 'run'), *more)
        worker[worker.index('--island') + 1] = 'north'
        other = Daemon('x', [*private, *worker],
                       os.path.join(run.place.directory, f'{folder}.log'))
        other.start()
        return other

    def end(other):
        other.terminate(5)
        run.until(lambda: _workers(run)['x']['state'] == 'lost')
    rounds = pace.rounds(cluster, run.place.data(), _BATCH, _TAU, 20)

    def trained(name):
        Progress(cluster, name, rounds, None, stuck_after_s=60).wait()
        view = checks.end_of_job(run.cases, cluster, name)
        return sorted(seat['worker'] for replica in view['replicas']
                      for seat in replica['seats'])
    other = start('together')
    run.until(lambda: _workers(run).get('x', {}).get('state') == 'connected')
    cluster.submit(run.spec('together', rounds=rounds, workers=3))
    seats = trained('together')
    check('another host: the island trains on both', seats ==
          ['east0', 'north0', 'x'], str(seats))
    end(other)
    other = start('apart', '--shared-memory-only')
    north = cluster.worker('north0').daemon
    try:
        # North's own worker may be on several hosts, so it names none.
        north.terminate(20)
        north.argv.append('--shared-memory-only')
        north.start()
        check('workers that share memory only: get workers has a line',
              bool(run.until(lambda: _APART in cluster.ctl.run(
                  'get', 'workers').decode())),
              cluster.ctl.run('get', 'workers').decode())
        cluster.submit(run.spec('apart', rounds=rounds, workers=2))
        described = cluster.ctl.run('describe', 'job', 'apart').decode()
        check('and so has describe job', _APART in described, described)
        seats = trained('apart')
        check('the island trains on the host of the first one',
              len(seats) == 2 and 'east0' in seats, str(seats))
    finally:
        north.argv.remove('--shared-memory-only')
        end(other)


def all_of(run):
    moved_worker(run)
    another_host(run)
