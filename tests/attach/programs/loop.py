"""A small loop with dropout. The job's parameters say how it is written."""

import os
import signal
import sys

import skerry
import torch
from torch.distributed import fsdp
from torch.nn import functional

torch.set_num_threads(1)
JOB = skerry.job()
P = JOB.parameters


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        x = torch.randn(6, generator=generator)
        return index, x, x.sum().view(1)


def evaluate(model, samples):
    with torch.no_grad():
        return {'loss': model(torch.ones(1, 6)).sum(), 'samples': samples}


def main():
    torch.manual_seed(JOB.seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 16), torch.nn.Tanh(),
        torch.nn.Dropout(P.get('dropout', 0.2)), torch.nn.Linear(16, 1))
    if P.get('fsdp'):
        torch.distributed.init_process_group('gloo')
        mesh = torch.distributed.init_device_mesh('cpu', (JOB.world,))
        fsdp.fully_shard(model[0], mesh=mesh)
        fsdp.fully_shard(model, mesh=mesh)
        evaluate(model, 1)  # the whole parameters stay there
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 64)
    wrapped = model
    if P.get('ddp'):
        torch.distributed.init_process_group('gloo')
        wrapped = torch.nn.parallel.DistributedDataParallel(model)
    run = skerry.attach(wrapped, optimizer, scheduler=scheduler,
                        evaluate=evaluate)
    seen = []
    for index, x, y in run.batches(Numbers(), P.get('micro'),
                                   num_workers=P.get('workers', 0)):
        seen += index.tolist()
        loss = functional.mse_loss(wrapped(x), y)
        (loss * run.micro_share).backward()
        if P.get('raise_at') == len(seen):
            raise ValueError('the sky\nis falling')
        if P.get('break_at') == len(seen):
            break
        if P.get('stack_at') == len(seen):
            os.kill(os.getpid(), signal.SIGUSR1)
        if run.last_micro:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        run.log(loss=loss, seen=len(index))
    if 'save' in P:
        torch.save([{k: v for k, v in model.state_dict().items()}, seen],
                   P['save'])
    if P.get('ddp') or P.get('fsdp'):
        torch.distributed.destroy_process_group()
    print('the last line', file=sys.stderr)


if __name__ == '__main__':
    main()
