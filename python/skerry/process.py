"""What a rank's process owes skerry-attach: its end, its signals, its last
words."""

import atexit
import faulthandler
import os
import signal
import site
import sys
import sysconfig

_WORDS_MAX = 500


def settle_signals():
    """SIGINT is the worker's to handle, because a terminal sends it to all.
    SIGTERM ends the process. SIGUSR1 writes every thread's stack to the
    log."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR1, file=sys.stderr, all_threads=True)


def _is_theirs(path):
    """Whether a file belongs to Python, to a package or to Skerry."""
    ours = [os.path.dirname(os.path.abspath(__file__)),
            *site.getsitepackages(), site.getusersitepackages(),
            *(sysconfig.get_path(name)
              for name in ('stdlib', 'platstdlib', 'purelib', 'platlib'))]
    path = os.path.abspath(path)
    return path.startswith('<') or any(
        path.startswith(folder + os.sep) for folder in ours)


def in_one_line(error):
    """`error` with its type and the user's line: `ValueError: no (train.py:7)`.

    The user's line is the innermost one that is not in a package.
    """
    said = str(error).strip().split('\n')[0]
    words = type(error).__name__ + (f': {said}' if said else '')
    place, trace = None, error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if not path.startswith('<') and not _is_theirs(path):
            place = f'{os.path.basename(path)}:{trace.tb_lineno}'
        trace = trace.tb_next
    words = words[:_WORDS_MAX]
    return words + (f' ({place})' if place else '')


class LastWords:
    """Says once why the loop ends, for the call in progress or without one."""

    def __init__(self, driver):
        self._driver = driver
        self._said = False
        # The call that has no answer yet.
        self.call = None
        self._rank = os.getpid()
        self._hook = sys.excepthook
        sys.excepthook = self._excepthook
        atexit.register(self.say, 'the program ended before its job')

    def say(self, words):
        """Processes that were forked from the rank say nothing."""
        if self._said or os.getpid() != self._rank:
            return
        self._said = True
        if self.call is not None:
            self._driver.refuse(self.call, 'INTERNAL', words)
        else:
            self._driver.note('failed', error=words)

    def silence(self):
        """The job has ended; what happens now is the program's own matter."""
        self._said = True

    def _excepthook(self, kind, error, trace):
        self.say(in_one_line(error))
        self._hook(kind, error, trace)
