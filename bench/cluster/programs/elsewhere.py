"""A loop whose steps are computed elsewhere, as on a GPU: the processors of
this machine are free while a step lasts.

With the parameter `notes`, a folder, each step writes when its batch came and
when it ended, in s.
"""

import json
import os
import time

import skerry
import torch

torch.set_num_threads(1)


class Positions(torch.utils.data.Dataset):

    def __init__(self, count):
        self._count = count

    def __len__(self):
        return self._count

    def __getitem__(self, position):
        return torch.tensor(float(position % 7))


def main():
    parameters = json.loads(os.environ['SKERRY_JOB'])['parameters']
    model = torch.nn.Module()
    model.values = torch.nn.Parameter(torch.zeros(parameters['values']))
    # A gradient of them all would be filled in each step.
    moved = torch.nn.Parameter(torch.zeros(64))
    optimizer = torch.optim.SGD([moved, model.values], lr=1e-3)
    model.moved = moved
    run = skerry.attach(model, optimizer)
    folder = parameters.get('notes')
    notes = open(os.path.join(folder, f'{os.getpid()}'), 'w',
                 encoding='ascii') if folder else None
    for target in run.batches(Positions(parameters['samples']),
                              batch_size=parameters['batch_samples']):
        began = time.monotonic()
        loss = (moved - target.mean()).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)
        time.sleep(max(0.0, began + parameters['step_s'] - time.monotonic()))
        if notes:
            notes.write(f'{began} {time.monotonic()}\n')
            notes.flush()


if __name__ == '__main__':
    main()
