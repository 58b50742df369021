"""Trains a network with BatchNorm to tell apart four kinds of pictures.

The job's parameter `record` names a folder, in which each process keeps a file
with the buffers that it has written and read. A step takes `step_s` seconds
longer than it needs. With the path of exported weights
as its argument, the program prints the loss of these and trains nothing.
"""

import json
import os
import struct
import sys
import time

import skerry
import torch
from torch.nn import functional
from torch.utils.data import TensorDataset

torch.set_num_threads(1)
_KINDS = 4


def pictures(count, seed):
    """`count` pictures of 1 x 8 x 8 values, noise over one of the patterns, and
    the number of the pattern."""
    patterns = torch.randn(_KINDS, 1, 8, 8,
                           generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(_KINDS, (count,), generator=generator)
    noise = torch.randn(count, 1, 8, 8, generator=generator)
    return TensorDataset(patterns[kinds] + noise, kinds)


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(6), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(6 * 16, _KINDS))


def evaluate(model, samples):
    x, kinds = pictures(64, seed=2).tensors
    return {'loss': functional.cross_entropy(model(x), kinds),
            'samples': samples or 64}


class Record:
    """Notes the buffers whenever they are copied."""

    def __init__(self, run, model, path):
        self._model, self._path = model, path
        self.samples = 0
        table = run._table
        table.snapshot = self._noted('out', table.snapshot)
        table.load = self._noted('in', table.load)

    def _noted(self, kind, copy):
        def inner(ranges):
            copy(ranges)
            line = {'kind': kind, 'samples': self.samples, 'buffers': {
                name: buffer.tolist()
                for name, buffer in self._model.named_buffers()
                if buffer.is_floating_point()}}
            with open(self._path, 'a', encoding='utf-8') as file:
                file.write(json.dumps(line) + '\n')
            if kind == 'out':
                self.samples = 0
        return inner


def exported(path):
    """{name: tensor} of the fp32 tensors of a safetensors file."""
    with open(path, 'rb') as file:
        size, = struct.unpack('<Q', file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop('__metadata__', None)
    return {name: torch.frombuffer(
        bytearray(data[slice(*one['data_offsets'])]),
        dtype=torch.float32).view(one['shape'])
            for name, one in header.items()}


def loss_of(path):
    model = network()
    found = model.load_state_dict(exported(path), strict=False)
    assert set(found.missing_keys) <= {'1.num_batches_tracked'}, found
    assert not found.unexpected_keys, found
    model.eval()
    with torch.no_grad():
        return evaluate(model, 0)['loss'].item()


def main():
    if len(sys.argv) > 1:
        print(loss_of(sys.argv[1]))
        return
    job = skerry.job()
    torch.manual_seed(job.seed)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    run = skerry.attach(model, optimizer, evaluate=evaluate)
    record = None
    if job.parameters.get('record'):
        record = Record(run, model, os.path.join(
            job.parameters['record'],
            f'{job.name}-{time.time_ns()}-{os.getpid()}'))
    for x, kinds in run.batches(pictures(512, seed=1)):
        loss = functional.cross_entropy(model(x), kinds)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)
        time.sleep(job.parameters.get('step_s', 0))
        if record:
            record.samples += len(x)


if __name__ == '__main__':
    main()
