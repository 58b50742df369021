"""Trains a small network to tell apart ten kinds of pictures."""

import skerry
import torch
from torch.nn import functional
from torch.utils.data import TensorDataset

torch.set_num_threads(1)
DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def pictures(count, seed):
    """`count` pictures of 1 x 16 x 16 values, noise over one of ten patterns,
    and the number of the pattern."""
    patterns = torch.randn(10, 1, 16, 16,
                           generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(10, (count,), generator=generator)
    noise = torch.randn(count, 1, 16, 16, generator=generator)
    return TensorDataset(patterns[kinds] + 2 * noise, kinds)


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.GroupNorm(4, 16),
        torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.GroupNorm(4, 32),
        torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Dropout(0.1),
        torch.nn.Linear(32 * 4 * 4, 10))


def main():
    dataset = pictures(4096, seed=1)
    model = network().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    run = skerry.attach(model, optimizer)
    for x, y in run.batches(dataset, batch_size=32):
        loss = functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)


if __name__ == '__main__':
    main()
