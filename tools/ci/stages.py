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
_UNIT_S = 16 * 60
_TESTS_AT_ONCE = 40
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
        return in_time(bazel, PRODUCT, time.monotonic)


def in_time(bazel, patterns, clock):
    tests = bazel.query(f'tests({" ".join(patterns).replace(" -", " - ")})')
    order = reach.in_order(bazel, tests)
    result, begun, until = tally.Tally(), 0, clock() + _UNIT_S
    while begun < len(order) and clock() < until:
        some = set(order[begun:begun + _TESTS_AT_ONCE])
        # Those that run are not named, as a test that does not fit this machine
        # would fail then.
        result.add(bazel.test([*patterns, *(f'-{test}' for test in order
                                            if test not in some)]))
        begun += len(some)
    say(f'unit: {begun} of {len(order)} targets in {_UNIT_S // 60} minutes, '
        'those near a change first')
    return result


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
        targets = _sanitized_tests(bazel, whole)
        if not targets:
            return tally.Tally(failed=['sanitize (no targets)'])
        return bazel.test(targets)


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
    """What sanitize and fuzz will take of a full run."""
    with _sanitized() as bazel:
        targets = _sanitized_tests(bazel, whole=False)
        fuzzers = bazel.query(r'attr(tags, "\bfuzz\b", //tests/fuzz/...)')
        targets += reach.chosen(bazel, fuzzers, FUZZ_MOST,
                                lambda text: say(f'fuzz: {text}'))
        if not bazel.build(targets):
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
        if not bazel.build(targets):
            return tally.Tally(failed=['fuzz (not built)'])
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
