"""What runs behind the suites, which wait for most of their time.

Compilers and simulations give the same result however long they take. So they
run meanwhile at the lowest priority. Suites that measure no times run one after
another in a second lane, at a priority between. What a lane prints is shown at
its end.
"""

import collections
import os
import signal
import subprocess
import sys
import tempfile

from tools.ci import tally
from tools.ci.bazel import ROOT

Lane = collections.namedtuple('Lane', 'niceness parts')

# Parts, in their order.
LANES = (
    Lane(19, ('sanitized', 'sim')),
    Lane(10, ('charts', 'tokenizer', 'checkpoint', 'object_store', 'peer_data',
              'resume', 'reach', 'releases', 'images', 'page', 'operator',
              'messages', 'attach', 'programs', 'kit', 'neon')),
)
# Two compilers, two servers of Bazel and two suites.
_MEMORY_MIN_BYTES = 8 << 30


def lanes(without):
    """LANES without some of their parts."""
    fewer = [lane._replace(parts=tuple(name for name in lane.parts
                                       if name not in without))
             for lane in LANES]
    return [lane for lane in fewer if lane.parts]


def fits():
    """Whether this machine has the memory for it."""
    return (os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
            >= _MEMORY_MIN_BYTES)


class Behind:
    """Ends with its `with` block, if end() has not been called."""

    def __init__(self, lane, command=None):
        self.parts, self._niceness = lane.parts, lane.niceness
        self._command = command or [sys.executable, '-B', 'tools/ci/main.py',
                                    *lane.parts]
        # pylint: disable-next=consider-using-with
        self._output = tempfile.TemporaryFile('w+', encoding='utf-8',
                                              errors='replace')
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()
        self._output.close()

    def start(self):
        """Counts nothing yet."""
        # A session of its own would have a share of its own, whatever the
        # priority.
        self._process = subprocess.Popen(
            ['nice', '-n', str(self._niceness), *self._command], cwd=ROOT,
            stdin=subprocess.DEVNULL, stdout=self._output,
            stderr=subprocess.STDOUT, process_group=0)
        return tally.Tally()

    def end(self):
        """Waits, shows what was printed, and returns the tally of all parts."""
        code = self._process.wait()
        self._output.seek(0)
        text = self._output.read()
        print(text, end='', flush=True)
        return tally.of_command('behind', code, text)
