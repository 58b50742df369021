"""Trains a network whose parameters are cut over the processes (FSDP2).

torchrun starts the processes. Each has a GPU of its own where there are enough.
"""

import os

import torch
from torch.distributed.fsdp import fully_shard
from torch.nn import functional
from torch.utils.data import DataLoader
from torch.utils.data import DistributedSampler
from torch.utils.data import TensorDataset

torch.set_num_threads(1)


def spirals(count, seed):
    """`count` points on one of three spirals, and which one it is."""
    generator = torch.Generator().manual_seed(seed)
    arm = torch.randint(3, (count,), generator=generator)
    radius = torch.rand(count, generator=generator)
    angle = 4 * radius + 2.1 * arm
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    noise = torch.randn(count, 2, generator=generator)
    return TensorDataset(points + 0.03 * noise, arm)


def network(mesh):
    torch.manual_seed(1)  # all processes begin with the same values
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 67), torch.nn.GELU(),
        torch.nn.Linear(67, 67), torch.nn.GELU(), torch.nn.Linear(67, 3))
    fully_shard(model[2], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def device():
    """A GPU of this process where all have one, else the processors."""
    if torch.cuda.device_count() < int(os.environ['WORLD_SIZE']):
        return torch.device('cpu')
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    return torch.device('cuda', torch.cuda.current_device())


def main():
    on = device()
    torch.distributed.init_process_group(
        'nccl' if on.type == 'cuda' else 'gloo')
    mesh = torch.distributed.init_device_mesh(
        on.type, (torch.distributed.get_world_size(),))
    dataset = spirals(4096, seed=1)
    model = network(mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sampler = DistributedSampler(dataset)
    for x, y in DataLoader(dataset, batch_size=16, sampler=sampler):
        loss = functional.cross_entropy(model(x.to(on)), y.to(on))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == '__main__':
    main()
