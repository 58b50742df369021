"""What tools/test does once the packages are there."""

import contextlib
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tools.ci import behind  # noqa: E402
from tools.ci import reach  # noqa: E402
from tools.ci import stages  # noqa: E402
from tools.ci import suites  # noqa: E402
from tools.ci import tally  # noqa: E402
from tools.local_cluster import flags  # noqa: E402


# Builds a control plane first, which takes minutes of every processor.
KUBERNETES = suites.Suite('kubernetes', 1, 'tests/integration/kubernetes', [])


def split_for_suite(arguments, table):
    """(ours, the suite's): flags right after a suite's name are its own."""
    for i, word in enumerate(arguments):
        if word in table and arguments[i + 1:i + 2] and (
                arguments[i + 1].startswith('-')):
            return arguments[:i + 1], arguments[i + 1:]
    return arguments, []


def parse_arguments(arguments):
    parser = flags.Parser(
        prog='tools/test', description='Builds and tests Skerry.',
        epilog='Flags after the name of a suite go to the suite.')
    parser.add_argument('names', nargs='*', metavar='NAME',
                        help='tidy, unit, clang, cuda, sanitize, fuzz, a '
                        'suite, or a Bazel pattern (//base/...); default: all '
                        'but those that --list says are on request alone')
    parser.add_argument('--quick', action='store_true',
                        help='tidy and the tests that are not slow')
    parser.add_argument('--seconds', type=flags.whole(1, 86400),
                        help='for each fuzz target (default 10, and 60 for the '
                        'fifth of codecs whose turn it is)')
    parser.add_argument('--seed', type=flags.whole(), default=1,
                        help='of the fuzzer (default 1)')
    parser.add_argument('--list', action='store_true',
                        help='names the parts')
    return parser.parse_args(arguments)


def everything(parts, lanes):
    """[(name, function)] of a full run. `lanes` run behind the suites; there
    are none where the machine is too small."""
    if not lanes:
        return list(parts.items())
    first, last = ('tidy', 'unit', 'clang', 'cuda'), ('sanitize', 'fuzz')
    apart = {name for lane in lanes for name in lane.parts}
    between = [name for name in parts if name not in {*first, *last, *apart}]
    return [*((name, parts[name]) for name in first),
            *(('behind: ' + ', '.join(lane.parts), lane.start)
              for lane in lanes),
            *((name, parts[name]) for name in between),
            *((', '.join(lane.parts), lane.end) for lane in lanes),
            *((name, parts[name]) for name in last)]


def plan(args, for_suite, table, lanes=()):
    """[(name, function returning a Tally)] of what was asked for."""
    parts = {
        'tidy': stages.tidy,
        'unit': (lambda: stages.unit(quick=args.quick)
                 if args.names or args.quick else stages.unit_in_time()),
        'clang': stages.clang,
        'cuda': stages.cuda,
        'sanitize': lambda: stages.sanitize(whole=bool(args.names)),
        'fuzz': lambda: stages.fuzz(args.seconds, args.seed,
                                    whole=bool(args.names)),
    }
    for entry in table.values():
        parts[entry.name] = (
            lambda entry=entry: stages.suite(entry, for_suite))
    on_request = {'sanitized': stages.build_sanitized, 'large': stages.large,
                  'research': stages.research,
                  KUBERNETES.name: lambda: stages.suite(KUBERNETES, for_suite)}
    names = args.names or ['tidy', 'unit']
    if not args.names and not args.quick:
        return everything(parts, lanes)
    chosen = []
    for name in names:
        if name.startswith('//'):
            chosen.append((name, lambda name=name: stages.unit(
                args.quick, [name])))
        elif name in parts or name in on_request:
            chosen.append((name, parts.get(name) or on_request[name]))
        else:
            raise ValueError(f'no part is called {name}; see --list')
    return chosen


def at_turn(table):
    """The suites of a full run, and says which are left out."""
    names = suites.with_turn(table, reach.commits(), reach.changed_files())
    others = ', '.join(sorted(table.keys() - set(names)))
    stages.say(f'suites: {len(names)} of {len(table)} have their turn'
               + (f', without {others}' if others else ''))
    return {name: table[name] for name in names}


def times(took_s):
    """One line with all parts, the longest first."""
    longest = sorted(took_s, key=took_s.get, reverse=True)
    return (f'took {sum(took_s.values()):.0f} s: '
            + ', '.join(f'{name} {took_s[name]:.0f}' for name in longest))


def run(chosen):
    """Runs parts one after another, and says what came of them."""
    total, took_s = tally.Tally(), {}
    for name, part in chosen:
        started = time.monotonic()
        print(f'== {name}', flush=True)
        done = part()
        took_s[name] = time.monotonic() - started
        print(f'== {name}: {done.line()} in {took_s[name]:.0f} s', flush=True)
        total.add(done)
    print(times(took_s))
    for name in total.failed:
        print(f'FAILED {name}')
    if not total.passed and not total.failed:
        total.failed.append('nothing was tested')
    print(total.line(), flush=True)
    return 1 if total.failed else 0


def main():
    table = suites.load()
    ours, for_suite = split_for_suite(sys.argv[1:],
                                      {*table, KUBERNETES.name})
    args = parse_arguments(ours)
    if args.list:
        print('\n'.join(['tidy', 'unit', 'clang', 'cuda', 'sanitize', 'fuzz',
                         *table,
                         *(f'{name} (on request alone)' for name in
                           ('sanitized', 'large', 'research',
                            KUBERNETES.name))]))
        return 0
    turn = table if args.names or args.quick else at_turn(table)
    with contextlib.ExitStack() as stack:
        lanes = [stack.enter_context(behind.Behind(lane))
                 for lane in behind.lanes(without=table.keys() - turn.keys())
                 ] if behind.fits() else []
        try:
            chosen = plan(args, for_suite, turn, lanes)
        except ValueError as error:
            print(f'tools/test: {error}', file=sys.stderr)
            return 2
        return run(chosen)


if __name__ == '__main__':
    sys.exit(main())
