"""Counts of test cases, and how they are said."""

import re

_LINE = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$')
_FAILED = 'FAILED '


class Tally:
    """What passed, what failed and under which name, what was skipped."""

    def __init__(self, passed=0, failed=(), skipped=0):
        self.passed = passed
        self.failed = list(failed)
        self.skipped = skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def line(self):
        text = f'{self.passed} passed, {len(self.failed)} failed'
        return text + (f', {self.skipped} skipped' if self.skipped else '')


def of_command(name, code, output):
    """The tally of a program that ended with `code`.

    A program that counts its own cases ends with a tally line, which is
    believed unless it contradicts the exit status; any other is one case. Its
    last lines `FAILED ...`, one for each failure, say which they are: programs
    that it ran in turn may have printed such lines before.
    """
    lines = output.rstrip().split('\n')
    match = _LINE.match(lines[-1].strip())
    if not match:
        return Tally(passed=1) if code == 0 else Tally(failed=[name])
    passed, failed, skipped = (int(n or 0) for n in match.groups())
    said = [line.strip()[len(_FAILED):] for line in lines
            if line.startswith(_FAILED)]
    failures = ([f'{name}: {case}' for case in said[-failed:]]
                if failed and len(said) >= failed
                else [f'{name} #{i + 1}' for i in range(failed)])
    if code != 0 and not failures:
        failures = [f'{name} (exit status {code})']
    if code == 0 and failures:
        failures.append(f'{name} (failed, yet exit status 0)')
    if code == 0 and passed + failed + skipped == 0:
        failures = [f'{name} (ran nothing)']
    return Tally(passed, failures, skipped)
