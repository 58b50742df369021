"""What a worker was doing at a moment, read from its log."""

import re

from local_cluster import logs

# The phases of a round and its exchange, in order. A worker may also be idle.
ALL = ('inner', 'snapshot', 'hop1', 'hop2', 'report', 'commit', 'apply')

_LINE = re.compile(r'phase (\w+)\b')


def of_entry(entry):
    """The phase that the entry says begins, or None."""
    if entry.get('event') != 'worker.seat':
        return None
    found = _LINE.match(str(entry.get('what', '')))
    return found.group(1) if found else None


def at(entries, seconds):
    """The phase that the last line until `seconds` since 1970 tells."""
    last = '-'
    for entry in entries:
        if logs.seconds(entry) > seconds:
            break
        if entry['event'] == 'worker.started':
            last = 'starting'
        last = of_entry(entry) or last
    return last


def trainer_pid(entries):
    """The pid of the newest trainer, or None after it has failed."""
    for entry in reversed(entries):
        if entry['event'] == 'worker.trainer.ready':
            return int(entry['pid'])
        if entry['event'] in ('worker.trainer.failed', 'worker.started'):
            return None
    return None


def least_hit(hits):
    """The phases that were hit least, in order."""
    fewest = min(hits.get(phase, 0) for phase in ALL)
    return [phase for phase in ALL if hits.get(phase, 0) == fewest]
