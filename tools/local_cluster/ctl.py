"""skerryctl for scripts."""

import json
import subprocess


class CtlError(Exception):
    """skerryctl failed; `code` is its exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


# Exit code of skerryctl when the coordinator cannot be reached.
UNAVAILABLE = 6


class Ctl:
    """Runs skerryctl against one coordinator."""

    def __init__(self, binary, coordinator):
        self.binary = binary
        self._command = [binary, '--coordinator', coordinator]

    def run(self, *arguments, timeout_s=60):
        """Standard output of `skerryctl ARGUMENTS`."""
        done = subprocess.run([*self._command, *arguments],
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout_s, check=False)
        if done.returncode != 0:
            raise CtlError(done.returncode,
                           done.stderr.decode('utf-8', 'replace').strip())
        return done.stdout

    def start(self, *arguments, stderr=subprocess.DEVNULL):
        """skerryctl as a process whose lines are read as they come."""
        return subprocess.Popen([*self._command, *arguments],
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=stderr)

    def json(self, *arguments, timeout_s=60):
        return json.loads(self.run(*arguments, '-o', 'json',
                                   timeout_s=timeout_s))

    def json_lines(self, *arguments):
        """What a command prints that gives one object a line."""
        return [json.loads(line)
                for line in self.run(*arguments, '-o', 'json').splitlines()]

    def job(self, name):
        """The job's view, or None while the coordinator is away."""
        try:
            return self.json('get', 'job', name)
        except CtlError as error:
            if error.code == UNAVAILABLE:
                return None
            raise
