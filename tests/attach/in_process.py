"""Gives a loop of this process the calls that a test writes down."""

import os
import sys

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'python'))

# pylint: disable=wrong-import-position
from skerry import alone  # noqa: E402
from skerry import run  # noqa: E402
from skerry.attach import Job  # noqa: E402

REFUSED = 'refused'
# Where the models of these tests are.
DEVICE = torch.device(os.environ.get('SKERRY_TEST_DEVICE', 'cpu'))


class Driver(alone.Driver):
    """Answers a refusal with (REFUSED, code, text)."""

    def refuse(self, call, code, error):
        self._answer = (REFUSED, code, error)


def job(**members):
    return Job(**{'name': 'test', 'parameters': {}, 'data_seed': 1,
                  'samples': 4096, 'batch_samples': 8, 'tau': 4, **members})


def attached(calls, model, optimizer, *, scheduler=None, scaler=None,
             evaluate=None, files=None, buffers='average', given=None,
             state=None):
    """A Run whose calls the generator `calls` yields as (name, body)."""
    driver = Driver(calls)
    return run.Run(model, optimizer, scheduler, scaler, evaluate, files or {},
                   buffers, given or job(), driver, driver.page, state)


def memory():
    """Yields the calls before the first Run. Returns (description, memory,
    the body that names everything)."""
    described, shared = yield from alone.described()
    return described, shared.values, {'ranges': [
        {'begin': '0', 'end': described['elementCount']}]}


def positions(begin, end, batch=8, upcoming=None):
    """The body of a Run."""
    return {'ranges': [{'begin': str(begin), 'end': str(end)}],
            'replicaBatchSamples': str(batch),
            'upcoming': [{'begin': str(upcoming[0]), 'end': str(upcoming[1])}]
            if upcoming else []}
