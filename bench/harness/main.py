"""What tools/bench does."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.harness import rows as results  # noqa: E402
from tools.ci.bazel import Bazel  # noqa: E402
from tools.local_cluster import flags  # noqa: E402

HERE = pathlib.Path(__file__).parent

Bench = collections.namedtuple('Bench', 'name kind what')

_GOOGLE = ['--benchmark_out_format=json',
           '--benchmark_enable_random_interleaving=true']
_GOOGLE_FULL = ['--benchmark_repetitions=9']
_GOOGLE_QUICK = ['--benchmark_repetitions=3', '--benchmark_min_time=0.05']


def parse_benches(text):
    """{name: Bench}, in the order of the table."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith('#'):
            continue
        if len(words) != 3 or words[1] not in ('google', 'rows'):
            raise ValueError(f'benches.txt: bad line: {line}')
        found[words[0]] = Bench(*words)
    return found


def command(bench, program, out, quick, extra):
    if bench.kind == 'google':
        return [program, f'--benchmark_out={out}', *_GOOGLE,
                *(_GOOGLE_QUICK if quick else _GOOGLE_FULL), *extra]
    return [program, '--json', out, *(['--quick'] if quick else []), *extra]


def find_program(bench):
    """The executable of `bench`, or None when it cannot be had."""
    if not bench.what.startswith('//'):
        path = ROOT / bench.what
        return str(path) if os.access(path, os.X_OK) else None
    bazel = Bazel()
    if not bazel.build([bench.what]):
        return None
    return str(bazel.binary(bench.what))


def run(bench, quick, extra):
    """(rows, errors) of one run of `bench`."""
    program = find_program(bench)
    if program is None:
        return [], [f'{bench.what} cannot be built or run']
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'rows.json')
        # What it prints is progress; the results come from the file.
        done = subprocess.run(command(bench, program, out, quick, extra),
                              cwd=ROOT, stdin=subprocess.DEVNULL,
                              stdout=sys.stderr, check=False)
        if done.returncode != 0:
            return [], [f'{bench.what} ended with {done.returncode}']
        text = pathlib.Path(out).read_text(encoding='utf-8') if (
            os.path.exists(out)) else ''
    if not text.strip():
        return [], [f'{bench.what} reported nothing']
    read = results.of_google if bench.kind == 'google' else results.of_lines
    return read(text)


def main():
    benches = parse_benches((HERE / 'benches.txt').read_text())
    bars = results.parse_bars((HERE / 'bars.txt').read_text())
    parser = flags.Parser(
        prog='tools/bench', description='Runs one bench; without a name, '
        'lists them. Unknown flags go to the bench.')
    parser.add_argument('name', nargs='?', choices=[*benches], metavar='NAME')
    parser.add_argument('--quick', action='store_true',
                        help='fewer repetitions; not for publishing')
    parser.add_argument('--json', metavar='FILE',
                        help='append one object a row to FILE')
    args, extra = parser.parse_known_args()
    if args.name is None:
        if extra:
            parser.error('name a bench before its flags: ' + ' '.join(extra))
        for bench in benches.values():
            print(f'{bench.name:10} {bench.what}')
        return 0
    # What else ran when this began, in processors; a quiet machine is at 0.
    load = round(os.getloadavg()[0], 2)
    rows, errors = run(benches[args.name], args.quick, extra)
    rows = [results.judge({**row, 'load': load}, args.name, bars)
            for row in rows]
    errors += [f'{row["name"]}: {row["ratio"]:.3f} is above what can be, so '
               'the bench is wrong' for row in rows if results.impossible(row)]
    if args.json:
        with open(args.json, 'a', encoding='utf-8') as out:
            for row in rows:
                out.write(json.dumps(row) + '\n')
    if rows:
        print(results.table(rows))
    for error in errors:
        print(f'tools/bench: {error}', file=sys.stderr)
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
