"""The file of finished cells: one JSON object a line, only ever added to."""

import collections
import fcntl
import json
import os

from bench.cluster.training import grid

DONE = 'done'
# The loss is not a number; the programs refuse the job; it did not end as it
# should.
DIVERGED, REFUSED, BROKEN = 'diverged', 'refused', 'broken'

# records: by key, the newest of each. notes: what a reader should know.
Read = collections.namedtuple('Read', 'records notes')


class BadFileError(Exception):
    """A line of the file is no record."""


def parse(text, name):
    """What stands in a file of this name. Raises BadFileError."""
    lines = text.split('\n')
    torn = lines.pop()
    notes = ([f'{name}: the last line is torn and ignored; its cell is '
              'trained again'] if torn else [])
    records = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            records[grid.key(record)] = record
            grid.Cell(**record['cell'])
            record['status']  # pylint: disable=pointless-statement
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadFileError(f'{name}:{number}: is no record of this bench; '
                               'remove the line, or name another file'
                               ) from error
    return Read(records, notes)


def read(path):
    """What the file has; nothing when there is none. Raises BadFileError."""
    try:
        with open(path, encoding='utf-8') as file:
            return parse(file.read(), path)
    except FileNotFoundError:
        return Read({}, [])
    except UnicodeDecodeError as error:
        raise BadFileError(f'{path}: is no text') from error
    except OSError as error:
        raise BadFileError(f'{path}: {error.strerror}') from error


class Writer:
    """Adds records to a file. Only one may be open; a second is refused."""

    def __init__(self, path):
        try:
            self._file = open(path, 'a+b')
        except OSError as error:
            raise BadFileError(f'{path}: {error.strerror}') from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BadFileError(f'{path}: another run adds to it; wait for its '
                               'end, or name another file') from error
        self._file.seek(0)
        whole = self._file.read().rfind(b'\n') + 1
        self._file.truncate(whole)

    def add(self, record):
        """The record is on the disk when this returns."""
        self._file.write(json.dumps(record).encode() + b'\n')
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self):
        self._file.close()


def left(cells, records, again=False):
    """The cells that have no record. again: nor one that says that it broke."""
    def is_done(cell):
        record = records.get(grid.key(grid.facts(cell)))
        return record is not None and not (again
                                           and record['status'] == BROKEN)
    return [cell for cell in cells if not is_done(cell)]


def expected_s(cell, records):
    """How long the cell should take, by the cells most like it that are
    measured. None where none is."""
    measured = [(grid.Cell(**record['cell']), record['took_s'])
                for record in records.values()
                if record['status'] in (DONE, DIVERGED)]
    for names in (('replicas', 'tau', 'optimizer', 'exchange'),
                  ('replicas', 'tau'), ('replicas',), ()):
        alike = [took_s / one.steps for one, took_s in measured
                 if all(getattr(one, name) == getattr(cell, name)
                        for name in names)]
        if alike:
            return sum(alike) / len(alike) * cell.steps
    return None
