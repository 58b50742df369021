"""Runs a program without a cluster.

    python -m skerry train.py --samples N --batch B --tau T
    python -m skerry describe train.py --batch B
    python -m skerry check train.py --batch B
"""

import argparse
import contextlib
import json
import os
import re
import runpy
import sys

from skerry import check
from skerry.attach import Job
from skerry.attach import give


class _Parser(argparse.ArgumentParser):
    """Takes no abbreviations, and says what is wrong in one line."""

    def error(self, message):
        line = ' '.join(message.split())
        print(f'{self.prog}: {line} (see {self.prog} --help)', file=sys.stderr)
        sys.exit(2)


def _whole(low):
    """The type of an argument that is a whole number from low to 2^63 - 1."""
    def read(text):
        # int() would also take 1_000 and digits of other scripts.
        if re.fullmatch('[0-9]{1,19}', text) and low <= int(text) < 2**63:
            return int(text)
        raise argparse.ArgumentTypeError(
            f'has to be a whole number from {low} to {2**63 - 1}, not {text!r}')
    return read


def _object(text):
    value = json.loads(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('this is no JSON object')
    return value


def _parser():
    parser = _Parser(
        prog='python -m skerry', allow_abbrev=False,
        description='Runs a program that calls skerry.attach without a '
        'cluster.',
        epilog='With `describe` before PROGRAM, it takes a few steps, and '
        'prints as JSON what the program trains. With `check`, it checks the '
        'program against the rules of a trainer.')
    parser.add_argument('program', metavar='PROGRAM',
                        help='the Python file')
    parser.add_argument('--batch', type=_whole(1), required=True,
                        help='samples of a step, training.batch_samples')
    parser.add_argument('--parameters', type=_object, default={},
                        metavar='JSON', help='model.program.parameters')
    parser.add_argument('--seed', type=_whole(0), default=1,
                        help='model.seed and data.seed (default 1)')
    return parser


def _arguments(arguments):
    """(describe, check or train; the flags)."""
    verb = arguments[0] if arguments[:1] in (['describe'], ['check']) else None
    parser = _parser()
    if verb == 'check':
        parser.add_argument('--ranks', type=_whole(1), default=1,
                            help='processes of the program (default 1)')
        parser.add_argument('--programs', metavar='FOLDER',
                            help='where trainer_kit and skerry-attach are '
                            '(default: on the PATH)')
    if verb is None:
        parser.add_argument('--samples', type=_whole(1), required=True,
                            help='positions of the run, training.samples')
        parser.add_argument('--tau', type=_whole(1), required=True,
                            help='steps a round')
    parsed = parser.parse_args(arguments[verb is not None:])
    if not os.path.isfile(parsed.program):
        parser.error(f'there is no file {parsed.program}')
    if verb != 'check' and os.environ.get('WORLD_SIZE', '1') != '1':
        parser.error('it runs one rank, and WORLD_SIZE is '
                     f'{os.environ["WORLD_SIZE"]}')
    return verb, parsed


def main():
    verb, parsed = _arguments(sys.argv[1:])
    if verb == 'check':
        try:
            return check.kit(parsed.program, parsed.batch, parsed.parameters,
                             parsed.ranks, parsed.programs)
        except FileNotFoundError as error:
            print(f'skerry: {error}', file=sys.stderr)
            return 2
    return _run(parsed, describes=verb == 'describe')


def _run(parsed, describes):
    """Runs the program in this process."""
    # torch takes a second to import: a wrong flag is answered before.
    from skerry import alone
    from skerry import describe
    found = {}
    samples, tau = (0, 0) if describes else (parsed.samples, parsed.tau)
    calls = (describe.calls(parsed.batch, found) if describes
             else alone.rounds(samples, parsed.batch, tau))
    give(alone.Driver(calls),
         Job(os.path.basename(parsed.program), parsed.parameters,
             seed=parsed.seed, data_seed=parsed.seed, samples=samples,
             batch_samples=parsed.batch, tau=tau))
    sys.argv = [parsed.program]
    sys.path[0] = os.path.dirname(os.path.abspath(parsed.program))
    # What the program prints is not what `describe` prints.
    with contextlib.redirect_stdout(sys.stderr if describes else sys.stdout):
        runpy.run_path(parsed.program, run_name='__main__')
    if describes:
        if not found:
            print('skerry: the program did not call run.batches',
                  file=sys.stderr)
            return 1
        print(json.dumps(found, indent=2))
    return 0


if __name__ == '__main__':
    sys.exit(main())
