"""A loop whose steps are computed elsewhere, as on a GPU: the processors of
this machine are free while a step lasts."""

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
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run = skerry.attach(model, optimizer)
    for target in run.batches(Positions(parameters['samples']),
                              batch_size=parameters['batch_samples']):
        ends = time.monotonic() + parameters['step_s']
        loss = (model.values[:64] - target.mean()).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)
        time.sleep(max(0.0, ends - time.monotonic()))


if __name__ == '__main__':
    main()
