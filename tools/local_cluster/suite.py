"""What suites of real processes have in common: a place, cases, the end."""

import functools
import os
import shutil
import sys
import tempfile
import traceback

from local_cluster import binaries
from local_cluster import corpus
from local_cluster import ctl
from local_cluster import flags

# Characters of a failure that the last lines repeat.
_SHOWN = 400


class Cases:
    """Counts cases, and says each as it is decided."""

    def __init__(self):
        self.passed = 0
        self.failed = []  # What is said of each, in one line.
        self.skipped = 0

    def check(self, name, good, detail=''):
        """One case; returns `good`."""
        said = name + (f': {detail}' if detail else '')
        if good:
            self.passed += 1
        else:
            self.failed.append(' '.join(said.split())[:_SHOWN])
        print(f"{'ok  ' if good else 'FAIL'} {said}", flush=True)
        return good

    def skip(self, why):
        """A case that cannot be tried here."""
        self.skipped += 1
        print(f'skipped: {why}', flush=True)

    def line(self):
        line = f'{self.passed} passed, {len(self.failed)} failed'
        return line + (f', {self.skipped} skipped' if self.skipped else '')


class Place:
    """A folder with the programs and prepared text."""

    def __init__(self, directory, programs, more=None):
        self.directory = directory
        self._given, self._more = programs, more
        self.clusters = []

    @functools.cached_property
    def programs(self):
        """The folder of the programs, built when they are first asked for."""
        return self._given or binaries.build(
            os.path.join(self.directory, 'bin'), more=self._more)

    def data(self):
        """The folder of the shards."""
        folder = os.path.join(self.directory, 'data')
        if not os.path.exists(folder):
            text = corpus.write(os.path.join(self.directory, 'bible.txt'))
            ctl.Ctl(os.path.join(self.programs, 'skerryctl'),
                    '127.0.0.1:1').run('data', 'prepare', '--out', folder, text)
        return folder

    def cluster(self, make):
        """`make(programs, directory)`, whose logs are shown on failure."""
        made = make(self.programs,
                    os.path.join(self.directory, f'c{len(self.clusters)}'))
        self.clusters.append(made)
        return made

    def show_logs(self):
        for cluster in self.clusters:
            for daemon in cluster.daemons():
                print(f'--- {daemon.log_path}\n{daemon.tail()}')


def arguments(name, about):
    """A parser with what every suite takes."""
    parser = flags.Parser(prog=name, description=about)
    parser.add_argument('--seed', type=flags.whole(), default=1)
    parser.add_argument('--keep', metavar='DIR',
                        help='keep logs and state in this folder')
    parser.add_argument('--programs', metavar='DIR',
                        help='take the programs from here, build nothing')
    return parser


def run(body, args, more=None):
    """Runs `body(place, cases, args)`; the exit status.

    `more` are targets by name that the suite needs beside the programs. What
    was written stays when a case has failed.
    """
    lacking = binaries.lacking(args.programs, more) if args.programs else []
    if lacking:
        print(f'{args.programs} lacks {", ".join(lacking)}; without --programs '
              'everything is built', file=sys.stderr)
        return 2
    directory = args.keep or tempfile.mkdtemp(prefix='skerry-suite-')
    os.makedirs(directory, exist_ok=True)
    cases = Cases()
    print(f'seed {args.seed}', flush=True)
    place = None
    try:
        place = Place(directory, args.programs, more)
        body(place, cases, args)
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc(file=sys.stdout)
        cases.check('the suite ran to its end', False, str(error))
    finally:
        for cluster in place.clusters if place else ():
            cluster.stop()
    if cases.failed:
        if place:
            place.show_logs()
        print(f'everything is kept in {directory}')
        for name in cases.failed:
            print(f'FAILED {name}')
    elif not args.keep:
        shutil.rmtree(directory, ignore_errors=True)
    print(cases.line(), flush=True)
    return 1 if cases.failed else 0
