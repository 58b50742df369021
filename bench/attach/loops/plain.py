"""The loop on one machine, which every other one begins from."""

import task
import torch
from torch.nn import functional
from torch.utils.data import DataLoader


def main():
    dataset = task.dataset()
    model = task.network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x, y in DataLoader(dataset, batch_size=task.BATCH, shuffle=True):
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        task.mark()  # bench
    task.finish(model)  # bench


if __name__ == '__main__':
    main()
