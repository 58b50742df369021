"""Runs Bazel, each build configuration in a home of its own.

Switching sanitizers in one output base throws its analysis away; separate
bases keep everyone's next build warm.
"""

import hashlib
import os
import pathlib
import subprocess
import tempfile

from tools.ci import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Two compilers fit in 4 GB; a C++ file that includes gRPC takes about one.
_LIMITS = ['--jobs=2', '--local_ram_resources=HOST_RAM*.67', '--keep_going',
           '--noshow_progress', '--show_result=0', '--ui_event_filters=-debug']


class Bazel:

    def __init__(self, home=None, flags=()):
        """`home` names a separate output base; None is the usual one."""
        self.startup = []
        if home:
            cache = os.environ.get('XDG_CACHE_HOME',
                                   os.path.expanduser('~/.cache'))
            checkout = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
            self.startup = [
                f'--output_base={cache}/skerry/{home}-{checkout}']
        self.flags = list(flags)
        if home:
            # Links in the checkout that lead to another home are packages to
            # whoever asks for all.
            self.flags.append('--symlink_prefix=/')
        self.separate = home is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A second server would hold its memory through the next stage.
        if self.separate:
            self._run(['shutdown'], stderr=subprocess.DEVNULL)

    def _run(self, args, **options):
        return subprocess.run(['bazel', *self.startup, *args], cwd=ROOT,
                              stdin=subprocess.DEVNULL, check=False, **options)

    def test(self, patterns, *flags):
        """The tally of the tests among `patterns`."""
        with tempfile.NamedTemporaryFile(suffix='.json') as events:
            code = self._run([
                'test', *_LIMITS, *self.flags, *flags,
                '--build_tests_only', '--test_output=errors',
                '--test_summary=terse',
                f'--build_event_json_file={events.name}', '--',
                *patterns]).returncode
            return results.of_events(
                pathlib.Path(events.name).read_text(encoding='utf-8'), code)

    def build(self, targets):
        """Whether everything was built."""
        return self._run(['build', *_LIMITS, *self.flags, '--',
                          *targets]).returncode == 0

    def query(self, expression):
        """The labels of `expression`, or none when it names nothing."""
        with tempfile.NamedTemporaryFile('w', encoding='utf-8') as query:
            # An argument has at most 128 KiB.
            query.write(expression)
            query.flush()
            done = self._run(['query', '--keep_going', '--noshow_progress',
                              f'--query_file={query.name}'],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout.decode().split()

    def binary(self, label):
        """Where a built cc_binary or sh_binary lies."""
        done = self._run(['info', *self.flags, 'bazel-bin'],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        folder = pathlib.Path(done.stdout.decode().strip())
        return folder / label.lstrip('/').replace(':', '/')
