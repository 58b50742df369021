"""tools/demo: a GPT learns English across islands while parts of it die."""

import argparse
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from local_cluster import binaries  # noqa: E402
from local_cluster import checks  # noqa: E402
from local_cluster import corpus  # noqa: E402
from local_cluster import job  # noqa: E402
from local_cluster import report  # noqa: E402
from local_cluster.islands import Island  # noqa: E402
from local_cluster.cluster import LocalCluster  # noqa: E402
from local_cluster.progress import Progress  # noqa: E402

_JOB = 'demo'

# Two workers with a fast link between them, and two islands of one; the second
# number of a link is the round-trip time.
_ISLANDS = [
    Island('north', workers=2, rate_mbit_s=200, rtt_ms=80),
    Island('east', workers=1, rate_mbit_s=50, rtt_ms=40),
    Island('west', workers=1, rate_mbit_s=50, rtt_ms=40),
]


class Size:
    """How large a run is. Tokens are fixed by rounds, tau and batch."""

    def __init__(self, layers, width, heads, context, batch, tau, rounds,
                 learning_rate, bar):
        self.config = job.gpt2_config(layers, width, heads, context)
        self.batch, self.tau, self.rounds = batch, tau, rounds
        self.learning_rate = learning_rate
        self.bar = bar  # 'bigram' or 'trigram'
        workers = sum(island.workers for island in _ISLANDS)
        self.samples = workers * batch * tau * rounds
        self.tokens = self.samples * context


_QUICK = Size(layers=3, width=96, heads=4, context=64, batch=16, tau=12,
              rounds=58, learning_rate=4e-3, bar='bigram')
_FULL = Size(layers=4, width=168, heads=6, context=128, batch=8, tau=12,
             rounds=150, learning_rate=3e-3, bar='trigram')


def main():
    parser = argparse.ArgumentParser(prog='tools/demo', description=__doc__)
    parser.add_argument('--quick', action='store_true',
                        help='a smaller model, under two minutes once built')
    parser.add_argument('--no-faults', action='store_true',
                        help='kill nothing')
    parser.add_argument('--keep', metavar='DIR',
                        help='keep logs, state and the curve in this folder')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    size = _QUICK if arguments.quick else _FULL
    directory = arguments.keep or tempfile.mkdtemp(prefix='skerry-demo-')
    os.makedirs(directory, exist_ok=True)
    try:
        good = run(size, directory, not arguments.no_faults, arguments.seed)
    finally:
        if not arguments.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return 0 if good else 1


def run(size, directory, faults, seed):
    """One demo. True when everything it claims is so."""
    print('Building (the first time takes some minutes) ...', flush=True)
    programs = binaries.build(os.path.join(directory, 'bin'))
    text = corpus.write(os.path.join(directory, 'bible.txt'))
    cluster = LocalCluster(programs, os.path.join(directory, 'cluster'),
                           _ISLANDS)
    data = os.path.join(directory, 'data')
    prepared = cluster.ctl.run('data', 'prepare', '--out', data,
                               text).decode()
    sys.stdout.write(prepared)
    print(report.islands_picture(_ISLANDS), flush=True)
    cluster.start()
    try:
        workers = len(cluster.workers)
        cluster.submit(job.job(
            _JOB, data, size.config, size.samples, size.batch, size.tau,
            learning_rate=size.learning_rate, seed=seed, workers_min=workers))
        progress = Progress(cluster, _JOB, size.rounds, sys.stdout)
        if faults:
            progress.at(1 / 3, 'kill -9 worker east0',
                        cluster.worker('east0').daemon.kill)
            progress.at(2 / 3, 'kill -9 coordinator', cluster.coordinator.kill)
        started = time.monotonic()
        progress.wait()
        took_s = time.monotonic() - started
        view = checks.settled_view(cluster, _JOB)
        return report.final(cluster, view, size, progress, took_s, prepared)
    finally:
        cluster.stop()


if __name__ == '__main__':
    sys.exit(main())
