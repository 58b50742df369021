"""Trains cells of the grid, and writes down what each has come to."""

import datetime
import glob
import hashlib
import math
import os
import platform
import shutil
import time

from bench.cluster.training import grid
from bench.cluster.training import results
from bench.cluster.training import run
from local_cluster import ctl
from local_cluster.progress import StuckError

_ISLANDS = [f'island{index}' for index in range(max(grid.REPLICAS))]
# The programs that decide what a cell comes to.
_DECIDE = ('skerry-coordinator', 'skerry-worker', 'skerry-trainer')
# Exit code of skerryctl when a job is refused (docs/skerryctl.md).
_INVALID = 7


def sha256(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


class Trainer:
    """Trains cells, and writes down each when it has ended."""

    def __init__(self, place, writer, checkpoints):
        self.place, self.writer = place, writer
        # Where the checkpoints lie that cells go on from.
        self._checkpoints = os.path.abspath(checkpoints)
        builds = [sha256(os.path.join(place.programs, name))
                  for name in _DECIDE]
        self._programs = hashlib.sha256(''.join(builds).encode()).hexdigest()

    def _trained(self, steps):
        """The folder of the checkpoint, which is made when it is not there."""
        folder = os.path.join(self._checkpoints, str(steps))
        if not os.path.exists(folder):
            shutil.rmtree(folder + '.new', ignore_errors=True)
            print('training the checkpoint to go on from', flush=True)
            found = run.train(self.place, _ISLANDS[:1], grid.trained_spec(
                steps, self.place.data(), folder + '.new'))
            if found.failed:
                raise RuntimeError('the job that makes the checkpoint: '
                                   + found.failed[0])
            os.rename(folder + '.new', folder)
        return folder

    @staticmethod
    def _outcome(found):
        loss = found.losses[-1][1] if found.losses else math.nan
        status = (results.BROKEN if found.failed or not found.losses
                  else results.DONE if math.isfinite(loss)
                  else results.DIVERGED)
        return {'status': status,
                'reason': found.failed[0] if found.failed else '',
                'loss': loss if math.isfinite(loss) else None,
                'losses': [at for at in found.losses if math.isfinite(at[1])],
                'late_steps': found.late_steps,
                'own_shares': found.own_shares,
                'exchanges': int(found.view['sequence']),
                'link_mbit_s': found.link_mbit_s}

    def _try(self, cell):
        try:
            checkpoint = (self._trained(cell.steps)
                          if cell.start == grid.TRAINED else None)
            spec = grid.spec(cell, self.place.data(), checkpoint)
            return self._outcome(run.train(
                self.place, _ISLANDS[:cell.replicas], spec, cell.exchange))
        except ctl.CtlError as error:
            status = (results.REFUSED if error.code == _INVALID
                      else results.BROKEN)
            return {'status': status, 'reason': ' '.join(str(error).split())}
        except (StuckError, RuntimeError, OSError) as error:
            return {'status': results.BROKEN,
                    'reason': ' '.join(str(error).split())}

    def train(self, cell):
        """Trains a cell and adds its record to the file. The record."""
        load, began = os.getloadavg()[0], time.monotonic()
        record = {**grid.facts(cell), **self._try(cell)}
        record.update(
            took_s=round(time.monotonic() - began, 1), load=round(load, 2),
            date=datetime.date.today().isoformat(), machine=machine(),
            programs=self._programs)
        if cell.start == grid.TRAINED:
            folder = os.path.join(self._checkpoints, str(cell.steps))
            record['trained_sha256'] = weights(folder)
        self.writer.add(record)
        return record


def machine():
    """The processor and how many of it this machine has."""
    with open('/proc/cpuinfo', encoding='ascii', errors='replace') as file:
        names = [line.split(':', 1)[1].strip() for line in file
                 if line.startswith('model name')]
    return f'{os.cpu_count()} x {(names or [platform.machine()])[0]}'


def weights(folder):
    """The hash of the weights of the only checkpoint in a folder."""
    found = glob.glob(os.path.join(folder, '*', 'model.safetensors'))
    return sha256(found[0]) if found else ''


def line(record):
    """What a person who waits should see of it."""
    cell = grid.Cell(**record['cell'])
    loss = record.get('loss')
    late = record.get('late_steps') or [0]
    return (f'{cell.method} on {cell.replicas}, {cell.setting}, tau '
            f'{cell.tau}, {cell.optimizer} at {cell.rate:g}, seed {cell.seed}, '
            f'{cell.start}: {record["status"]} '
            + (f'{loss:.4f}, results {sum(late) / len(late):.1f} steps late'
               if loss is not None else record['reason'])
            + f', {record["took_s"]:.0f} s')
