"""The loop with Accelerate's LocalSGD, as its guide writes it. torchrun starts
both replicas."""

import task
import torch
from accelerate import Accelerator
from accelerate.local_sgd import LocalSGD
from torch.nn import functional
from torch.utils.data import DataLoader


def main():
    dataset = task.dataset()
    model = task.network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(task.seed())  # bench
    loader = DataLoader(dataset, batch_size=task.BATCH, shuffle=True)
    accelerator = Accelerator()
    task.begin(accelerator.process_index)  # bench
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    with LocalSGD(accelerator=accelerator, model=model,
                  local_sgd_steps=task.TAU) as local_sgd:
        for x, y in loader:
            loss = functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            local_sgd.step()
            task.mark()  # bench
    task.finish(accelerator.unwrap_model(model))  # bench


if __name__ == '__main__':
    main()
