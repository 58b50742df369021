"""The daemons' logs: one JSON object a line."""

import calendar
import json
import os
import time

_TAIL_POLL_S = 0.002


def parse(line):
    """The line's object, or None for what is not a line of a daemon."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and 'event' in found else None


def seconds(entry):
    """When it was written, in seconds since 1970."""
    whole, _, rest = entry['time'].partition('.')
    return (calendar.timegm(time.strptime(whole, '%Y-%m-%dT%H:%M:%S'))
            + float('0.' + rest.rstrip('Z')))


def read(path):
    """All entries of a log, oldest first."""
    try:
        with open(path, encoding='utf-8', errors='replace') as log:
            return [entry for entry in map(parse, log) if entry]
    except FileNotFoundError:
        return []


class Tail:
    """The entries that are written from now on."""

    def __init__(self, path):
        self._log = open(path, 'rb')
        self._log.seek(0, os.SEEK_END)
        self._rest = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._log.close()

    def next_until(self, deadline):
        """The next entry, or None once the monotonic clock says `deadline`."""
        while True:
            line = self._log.readline()
            if line:
                self._rest += line
                if line.endswith(b'\n'):
                    entry = parse(self._rest.decode('utf-8', 'replace'))
                    self._rest = b''
                    if entry:
                        return entry
            elif time.monotonic() >= deadline:
                return None
            else:
                time.sleep(_TAIL_POLL_S)
