"""Trains a small network with Accelerate, which accumulates gradients."""

import skerry
import torch
from accelerate import Accelerator
from torch.nn import functional
from torch.utils.data import DataLoader
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


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.GELU(), torch.nn.Dropout(0.1),
        torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 640)
    loader = DataLoader(spirals(4096, seed=1), batch_size=16, shuffle=True)
    model, optimizer, loader, scheduler = accelerator.prepare(
        model, optimizer, loader, scheduler)
    run = skerry.accelerate.attach(accelerator, model, optimizer, scheduler)
    for x, y in run.batches(loader):
        with accelerator.accumulate(model):
            loss = functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        run.log(loss=loss)


if __name__ == '__main__':
    main()
