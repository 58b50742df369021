"""A network whose parameters are cut over as many ranks as there are (FSDP2).

A rank takes all that it has of a step in one batch, so that one rank and two
train the same job.
"""

import skerry
import torch
from torch.distributed.fsdp import fully_shard
from torch.nn import functional
from torch.utils.data import TensorDataset

torch.set_num_threads(1)


def sums():
    x = torch.randn(2048, 6, generator=torch.Generator().manual_seed(1))
    return TensorDataset(x, x.sum(1, keepdim=True))


def main():
    torch.distributed.init_process_group('gloo')
    world = torch.distributed.get_world_size()
    mesh = torch.distributed.init_device_mesh('cpu', (world,))
    torch.manual_seed(1)
    # Rows that two ranks cannot share evenly.
    model = torch.nn.Sequential(torch.nn.Linear(6, 33), torch.nn.GELU(),
                                torch.nn.Linear(33, 1))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    run = skerry.attach(model, optimizer)
    for x, y in run.batches(sums()):
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss, ranks=world)
    torch.distributed.destroy_process_group()


if __name__ == '__main__':
    main()
