"""The parts of a full run, each returning a Tally."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from tools.ci import clang as clang_part
from tools.ci import reach
from tools.ci import suites
from tools.ci import tally
from tools.ci.bazel import ROOT
from tools.ci.bazel import Bazel

# Where memory is handled by hand, bytes come from others, or random histories
# go far. Elsewhere a sanitizer would cost more minutes than it finds bugs.
SANITIZED = ('base', 'compression', 'coordinator/core', 'data', 'runtime',
             'transport', 'worker/core', 'worker/shell')


# The tags of tools/bazel/fuzz.bzl.
_FUZZ_LONG_S, _FUZZ_SHORT_S = 60, 10
# A full run begins no unit tests after so long. After a change of a header that
# most files include, all of them would take 51 minutes on two cores. Tests that
# did not change since they last ran here take none of the time.
_UNIT_S = 11 * 60
# It begins to compile nothing for sanitizers after so long behind the suites,
# and after so long in the stages that run it.
_SANITIZED_S, _SANITIZE_S, _FUZZ_S = 12 * 60, 4 * 60, 60
_AT_ONCE = 40
_SANITIZED_AT_ONCE = 12
# Sanitized tests run several times longer than Bazel's limits assume.
_SANITIZED_TIMEOUT = '--test_timeout=300,600,1200,3600'
# Targets that one commit runs at most. They are compiled once more than for
# unit tests.
SANITIZED_MOST = reach.Row(60, 40, 20)
FUZZ_MOST = reach.Row(20, 8, 6)


def say(text):
    print(text, flush=True)


def run(name, command):
    """Runs a program, shows what it prints, and returns its tally."""
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True,
                          errors='replace') as child:
        lines = []
        for line in child.stdout:
            lines.append(line)
            sys.stdout.write(line)
            sys.stdout.flush()
    return tally.of_command(name, child.returncode, ''.join(lines[-20:]))


def tidy():
    result = run('tidy', [sys.executable, '-B', 'tools/tidy/tidy.py'])
    formatted = subprocess.run(['tools/tidy/format'], cwd=ROOT,
                               stdin=subprocess.DEVNULL, check=False)
    if formatted.returncode == 77:
        return result.add(tally.Tally(skipped=1))
    return result.add(tally.of_command('format', formatted.returncode, ''))


# Research is in no program, and is tried on request.
PRODUCT = ('//...', '-//research/...')


def unit(quick=False, patterns=PRODUCT):
    with Bazel() as bazel:
        return bazel.test(patterns,
                          *(['--test_tag_filters=-slow'] if quick else []))


def unit_in_time():
    """As many unit tests as a full run has time for."""
    with Bazel() as bazel:
        return units_in_time(bazel, PRODUCT, time.monotonic)


def units_in_time(bazel, patterns, clock):
    tests = bazel.query(f'tests({" ".join(patterns).replace(" -", " - ")})')
    order, result = reach.in_order(bazel, tests), tally.Tally()

    def begin(some):
        # Those that run are not named, as a test that does not fit this machine
        # would fail then.
        result.add(bazel.test([*patterns, *(f'-{test}' for test in order
                                            if test not in set(some))]))

    begun = in_time(order, _UNIT_S, _AT_ONCE, begin, clock)
    say(f'unit: {len(begun)} of {len(order)} targets in {_UNIT_S // 60} '
        'minutes, those near a change first')
    return result


def in_time(order, seconds, at_once, begin, clock=time.monotonic):
    """Gives `begin` so many of `order` at once, until the time is over. Returns
    those that it was given: a beginning of `order`."""
    begun, until = 0, clock() + seconds
    while begun < len(order) and clock() < until:
        begin(order[begun:begun + at_once])
        begun += at_once
    return order[:begun]


def cuda():
    """The toolkit's compiler on every kernel, and the tests that need a device,
    which skip themselves where there is none."""
    toolkit = pathlib.Path(os.environ.get('CUDA_PATH', '/usr/local/cuda'))
    if not (toolkit / 'bin' / 'nvcc').exists():
        say(f'cuda: skipped, there is no nvcc in {toolkit}')
        return tally.Tally(skipped=1)
    with Bazel(flags=['--config=cuda']) as bazel:
        targets = bazel.query(r'attr(tags, "\bgpu\b", //...)')
        if not targets or not bazel.build(targets):
            return tally.Tally(failed=['cuda (not built)'])
        return tally.Tally(passed=1).add(bazel.test(targets))


def clang():
    """Locks that are not held, and faults that clang-tidy finds."""
    if not shutil.which(clang_part.PROGRAM):
        say(f'clang: skipped, there is no {clang_part.PROGRAM}')
        return tally.Tally(skipped=1)
    # After the unit tests nothing is left to build.
    with Bazel() as bazel:
        if not bazel.build(clang_part.MESSAGES):
            return tally.Tally(failed=['clang (messages not built)'])
    return clang_part.look_at(clang_part.chosen(say), say)


def large():
    """What takes more memory than a machine of CI may have."""
    return unit(patterns=['//compression:large_slice_test'])


def research():
    """Encoders and experiments that no program uses."""
    return unit(patterns=['//research/...'])


def sanitize(whole=True):
    """ASan and UBSan in one pass, on the libraries that fuzzing needs too."""
    with _sanitized() as bazel:
        order = _sanitized_tests(bazel, whole)
        if not order:
            return tally.Tally(failed=['sanitize (no targets)'])
        if whole:
            return bazel.test(order, _SANITIZED_TIMEOUT)
        result = tally.Tally()
        begun = in_time(
            order, _SANITIZE_S, _SANITIZED_AT_ONCE,
            lambda some: result.add(bazel.test(some, _SANITIZED_TIMEOUT)))
    say(f'sanitize: {len(begun)} of {len(order)} chosen targets in '
        f'{_SANITIZE_S // 60} minutes')
    return result


def _sanitized_tests(bazel, whole):
    folders = ' + '.join(f'//{folder}/...' for folder in SANITIZED
                         if _has_packages(folder))
    # A test that needs a GPU does not fit this configuration, and Bazel fails
    # when such a target is asked for by its name. Tests of whole clusters link
    # far more than what is sanitized here.
    targets = bazel.query(
        f'tests({folders}) except '
        rf'attr(tags, "\b(slow|gpu|cluster)\b", tests({folders}))')
    return targets if whole else reach.chosen(
        bazel, targets, SANITIZED_MOST,
        lambda text: say(f'sanitize: {text}'))


def build_sanitized():
    """What sanitize and fuzz will take of a full run, in time."""
    with _sanitized() as bazel:
        fuzzers = bazel.query(r'attr(tags, "\bfuzz\b", //tests/fuzz/...)')
        order = reach.mixed([
            _sanitized_tests(bazel, whole=False),
            reach.chosen(bazel, fuzzers, FUZZ_MOST,
                         lambda text: say(f'fuzz: {text}'))])
        built = []
        begun = in_time(order, _SANITIZED_S, _SANITIZED_AT_ONCE,
                        lambda some: built.append(bazel.build(some)))
    say(f'sanitized: {len(begun)} of {len(order)} targets in '
        f'{_SANITIZED_S // 60} minutes')
    if not all(built):
        return tally.Tally(failed=['sanitized (not built)'])
    return tally.Tally(passed=1)


def _sanitized():
    """Of both stages that use it, so that each library is compiled once."""
    return Bazel('fuzz', ['--config=fuzz'])


def _has_packages(folder):
    return any((ROOT / folder).rglob('BUILD'))


def fuzz(seconds=None, seed=1, whole=True):
    """Fuzz targets, starting from their corpora: for `seconds`, or for as long
    as their tags say, which long ones get when it is their turn."""
    result = tally.Tally()
    if not _has_packages('tests/fuzz'):
        say('fuzz: no targets')
        return result
    with _sanitized() as bazel:
        targets = bazel.query(r'attr(tags, "\bfuzz\b", //tests/fuzz/...)')
        tagged = {length: bazel.query(
            rf'attr(tags, "\bfuzz_{length}_s\b", //tests/fuzz/...)')
                  for length in (_FUZZ_LONG_S, _FUZZ_SHORT_S)}
        if not targets or set(targets) != set(sum(tagged.values(), [])):
            return tally.Tally(failed=['fuzz (a target lacks a tag)'])
        if not whole:
            targets = reach.chosen(bazel, targets, FUZZ_MOST,
                                   lambda text: say(f'fuzz: {text}'))
        lasting = fuzz_seconds(tagged[_FUZZ_LONG_S], targets, reach.commits())
        long = [target for target in lasting
                if lasting[target] == _FUZZ_LONG_S]
        say(f'fuzz: {len(long)} of {len(tagged[_FUZZ_LONG_S])} long targets '
            f'have their turn of {_FUZZ_LONG_S} s')
        if seconds:
            lasting = dict.fromkeys(lasting, seconds)
        built = []
        begun = in_time(targets, sys.maxsize if whole else _FUZZ_S,
                        _SANITIZED_AT_ONCE,
                        lambda some: built.append(bazel.build(some)))
        say(f'fuzz: {len(begun)} of {len(targets)} chosen targets are built')
        if not all(built):
            return tally.Tally(failed=['fuzz (not built)'])
        lasting = {target: lasting[target] for target in lasting
                   if target in begun}
        binaries = {target: bazel.binary(target) for target in lasting}
    # A fuzzer uses one core.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(
                lambda target: _fuzz_one(target, binaries[target],
                                         lasting[target], seed), lasting):
            result.add(done)
    return result


def fuzz_seconds(long_targets, targets, turn):
    """{target: seconds} of those in `targets`, the longest first, so that no
    core waits at the end."""
    long = reach.turn_of(long_targets, turn, reach.FUZZ_TURNS)
    return {**{target: _FUZZ_LONG_S for target in long if target in targets},
            **{target: _FUZZ_SHORT_S for target in sorted(targets)
               if target not in long}}


def _fuzz_one(target, binary, seconds, seed):
    name = target.split(':')[-1]
    committed = ROOT / 'tests' / 'fuzz' / 'corpus' / name
    artifacts = pathlib.Path(tempfile.gettempdir()) / 'skerry-fuzz'
    artifacts.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as grown:
        corpora = [grown] + ([str(committed)] if committed.is_dir() else [])
        done = subprocess.run(
            [str(binary), f'-max_total_time={seconds}', f'-seed={seed}',
             '-entropic_scale_per_exec_time=1', '-rss_limit_mb=2048',
             '-timeout=10', '-verbosity=0',
             f'-artifact_prefix={artifacts}/{name}-', *corpora],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace',
            check=False)
    # In one piece, as others print too.
    say(f'fuzz: {target} for {seconds} s, seed {seed}\n{done.stdout}')
    return tally.of_command(f'{target} --seed {seed}', done.returncode, '')


def suite(entry, arguments):
    """One suite of suites.txt; `arguments` replace those of a full run."""
    if not arguments:
        arguments = suites.at_turn(entry.arguments, reach.commits())
        if arguments != entry.arguments:
            say(f'{entry.name}: this commit has the turn of '
                f'{" ".join(arguments)}')
    command = entry.what
    if command.startswith('//'):
        with Bazel() as bazel:
            if not bazel.build([command]):
                return tally.Tally(failed=[f'{entry.name} (not built)'])
            command = str(bazel.binary(command))
    elif not os.access(ROOT / command, os.X_OK):
        return tally.Tally(failed=[f'{entry.name} ({command} is missing)'])
    else:
        command = str(ROOT / command)
    return run(entry.name, [command, *arguments])
