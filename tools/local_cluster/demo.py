"""tools/demo: a GPT learns English across islands while parts of it die."""

import contextlib
import dataclasses
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from local_cluster import binaries  # noqa: E402
from local_cluster import checks  # noqa: E402
from local_cluster import corpus  # noqa: E402
from local_cluster import ctl  # noqa: E402
from local_cluster import flags  # noqa: E402
from local_cluster import job  # noqa: E402
from local_cluster import report  # noqa: E402
from local_cluster import sites  # noqa: E402
from local_cluster.apart import Apart  # noqa: E402
from local_cluster.islands import Island, Reached  # noqa: E402
from local_cluster.cluster import LocalCluster  # noqa: E402
from local_cluster.ports import free_port  # noqa: E402
from local_cluster.progress import Progress  # noqa: E402

_JOB = 'demo'

# Two workers with a fast link between them, and two islands of one; the second
# number of a link is the round-trip time.
_ISLANDS = [
    Island('north', workers=2, rate_mbit_s=200, rtt_ms=80),
    Island('east', workers=1, rate_mbit_s=50, rtt_ms=40),
    Island('west', workers=1, rate_mbit_s=50, rtt_ms=40),
]

# With --network: nobody can open a connection to the second island, and the
# last one is behind a NAT that forwards its port.
_REACHED = (Reached.DIALLED, Reached.REVERSE, Reached.FORWARDED)

# For a while an exchange in int8 would take this many rounds, because of what
# has to cross the link to this island.
_STEPPED = _ISLANDS[2]
_SLOW_ROUNDS = 2


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
    parser = flags.Parser(prog='tools/demo', description=__doc__)
    parser.add_argument('--quick', action='store_true',
                        help='a smaller model, under two minutes once built')
    parser.add_argument('--page', action='store_true',
                        help='serve a page to watch the run on, and print its '
                        'address')
    parser.add_argument('--network', action='store_true',
                        help='give each island a network of its own, two of '
                        'them behind a NAT; programs join with tokens and '
                        'speak TLS. Needs root')
    parser.add_argument('--no-faults', action='store_true',
                        help='kill nothing; a link gets slower all the same')
    parser.add_argument('--keep', metavar='DIR',
                        help='keep logs, state and the curve in this folder')
    parser.add_argument('--programs', metavar='DIR',
                        help='take the programs from here, build nothing')
    parser.add_argument('--seed', type=flags.whole(), default=1)
    arguments = parser.parse_args()
    if arguments.network:
        if arguments.page:
            parser.error('--page: no browser reaches a network of --network')
        try:
            sites.require()
        except sites.NotToBeHad as why:
            parser.error(f'--network: {why}; it takes root and the packages '
                         'iproute2 and nftables')
    with (sites.entered(arguments.programs, build) if arguments.network
          else contextlib.nullcontext()) as network:
        return 0 if show(arguments, network) else 1


def show(arguments, network):
    """Makes a folder and runs the demo there. True when all that it claims is
    so."""
    size = _QUICK if arguments.quick else _FULL
    directory = arguments.keep or tempfile.mkdtemp(prefix='skerry-demo-')
    os.makedirs(directory, exist_ok=True)
    try:
        programs = arguments.programs or build(os.path.join(directory, 'bin'))
        return run(size, directory, programs, arguments, network)
    finally:
        if not arguments.keep:
            shutil.rmtree(directory, ignore_errors=True)


def build(directory):
    print('Building (the first time takes some minutes) ...', flush=True)
    return binaries.build(directory)


class Link:
    """The emulated link to an island, whose rate steps down and up again."""

    def __init__(self, cluster, island):
        self._cluster = cluster
        self._island = island

    def slow(self, progress):
        """What is about a byte a parameter takes _SLOW_ROUNDS rounds."""
        replicas = len(_ISLANDS)
        # Contributions to the spans that it owns, and the other spans' results.
        values = (int(self._cluster.ctl.job(_JOB)['parameters'])
                  * 2 * (replicas - 1) / replicas)
        self._set(values * 8 / 1e6 / (_SLOW_ROUNDS * progress.round_s()))

    def recover(self):
        self._set(self._island.rate_mbit_s)

    def _set(self, mbit_s):
        print(f'    the link to {self._island.name} has {mbit_s:.2g} Mbit/s '
              'now', flush=True)
        self._cluster.set_rate(self._island.name, mbit_s)


def start(programs, directory, page, network):
    """A cluster that runs: on `network`, or with emulated links."""
    if network:
        cluster = Apart(programs, directory, network, [
            dataclasses.replace(island, reached=reached)
            for island, reached in zip(_ISLANDS, _REACHED)])
        pin = cluster.make()
        for island in cluster.islands:
            cluster.admit(island, pin)
        return cluster
    admin = ('--admin', f'127.0.0.1:{page}') if page else ()
    cluster = LocalCluster(programs, directory, _ISLANDS,
                           coordinator_flags=admin)
    cluster.start()
    return cluster


def run(size, directory, programs, arguments, network):
    """One demo, on a network of sites if there is one. True when everything it
    claims is so."""
    text = corpus.write(os.path.join(directory, 'bible.txt'))
    data = os.path.join(directory, 'data')
    prepared = ctl.Ctl(os.path.join(programs, 'skerryctl'), '127.0.0.1:1').run(
        'data', 'prepare', '--out', data, text).decode()
    sys.stdout.write(prepared)
    faults, page = not arguments.no_faults, (
        free_port() if arguments.page else None)
    cluster = start(programs, os.path.join(directory, 'cluster'), page, network)
    print(report.islands_picture(cluster.islands, network), flush=True)
    if page:
        print(f'Watch it on http://127.0.0.1:{page}/ while it runs.\n',
              flush=True)
    try:
        workers = len(cluster.workers)
        cluster.submit(job.job(
            _JOB, data, size.config, size.samples, size.batch, size.tau,
            method='OUTER_METHOD_LATE', codec='adaptive',
            learning_rate=size.learning_rate, seed=arguments.seed,
            workers_min=workers))
        progress = Progress(cluster, _JOB, size.rounds, sys.stdout)
        link = Link(cluster, _STEPPED)
        if faults:
            progress.at(1 / 3, 'kill -9 worker east0',
                        cluster.worker('east0').daemon.kill)
        progress.at(0.45, f'the link to {_STEPPED.name} gets slower',
                    lambda: link.slow(progress))
        if faults:
            progress.at(2 / 3, 'kill -9 coordinator', cluster.coordinator.kill)
        progress.at(0.75, f'the link to {_STEPPED.name} recovers', link.recover)
        started = time.monotonic()
        progress.wait()
        took_s = time.monotonic() - started
        view = checks.settled_view(cluster, _JOB)
        return report.final(cluster, view, size, progress, took_s, prepared)
    finally:
        cluster.stop()


if __name__ == '__main__':
    sys.exit(main())
