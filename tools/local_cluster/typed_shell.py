"""An interactive bash at a terminal of its own, into which lines are typed."""

import os
import pty
import re
import select
import signal
import time

_PROMPT = re.compile(rb'\[typed (\d+)\] $')
_INPUT = 'PATH', 'LANG', 'LC_ALL'


class TypedShell:
    """Bash as the user whom `become()` makes of the child process.

    `environment` is added to little more than PATH and TERM: what a user has
    after login.
    """

    def __init__(self, become, directory, environment):
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            try:
                become()
                os.chdir(directory)
                os.execve('/bin/bash', ['bash', '--norc', '--noediting', '-i'],
                          {**{k: os.environ[k] for k in _INPUT
                              if k in os.environ},
                           'TERM': 'dumb', 'PS1': '[typed $?] ',
                           **environment})
            except BaseException as error:  # pylint: disable=broad-except
                os.write(2, f'{error}\n'.encode())
                os._exit(127)
        self._read_to_prompt(30)

    def type(self, line, timeout_s):
        """Exit code and output of a line; the code is None after a timeout."""
        os.write(self._terminal, line.encode() + b'\n')
        code, shown = self._read_to_prompt(timeout_s)
        text = shown.decode('utf-8', 'replace').replace('\r\n', '\n')
        # The terminal shows what is typed.
        return code, text.removeprefix(line).lstrip('\n')

    def _read_to_prompt(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        shown = b''
        while True:
            found = _PROMPT.search(shown)
            if found:
                return int(found.group(1)), shown[:found.start()]
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._terminal], [], [],
                                              left)[0]:
                return None, shown
            try:
                shown += os.read(self._terminal, 65536)
            except OSError:  # the shell has ended
                raise RuntimeError(
                    f'the shell ended: {shown.decode("utf-8", "replace")}'
                ) from None

    def processes(self):
        """Names by id of what was started here and still runs."""
        found = {}
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == self._pid:
                continue
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8') as file:
                    before, _, after = file.read().rpartition(')')
            except OSError:
                continue  # it has ended
            fields = after.split()  # state, parent, group, session
            if int(fields[3]) == self._pid and fields[0] != 'Z':
                found[int(name)] = before.partition('(')[2]
        return found

    def close(self):
        """Ends the shell and all that was started from it."""
        while True:
            left = self.processes()
            for pid in [*left, self._pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                break
        os.waitpid(self._pid, 0)
        os.close(self._terminal)
