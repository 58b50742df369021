"""The loop with Skerry."""

import skerry
import task
import torch
from torch.nn import functional


def main():
    dataset = task.dataset()
    model = task.network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    run = skerry.attach(model, optimizer)
    for x, y in run.batches(dataset, batch_size=task.BATCH):
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)
        task.mark()  # bench


if __name__ == '__main__':
    main()
