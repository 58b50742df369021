"""The loop with torchft's DiLoCo, as its README and its test of recovery write
it. torchrun starts it, once for each replica group."""

import os
from datetime import timedelta

import task
import torch
from torch.nn import functional
from torch.utils.data import DataLoader
from torchft import DistributedSampler
from torchft import Manager
from torchft import ProcessGroupGloo
from torchft.local_sgd import DiLoCo


def main():
    dataset = task.dataset()
    model = task.network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    outer_optimizer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9,
                                      nesterov=True)

    def load_state_dict(state):
        model.load_state_dict(state['model'])
        optimizer.load_state_dict(state['inner_optim'])
        task.healed()  # bench

    def state_dict():
        return {'model': model.state_dict(),
                'inner_optim': optimizer.state_dict()}

    replica = int(os.environ['REPLICA_GROUP_ID'])
    groups = int(os.environ['NUM_REPLICA_GROUPS'])
    task.begin(replica)  # bench
    manager = Manager(
        pg=ProcessGroupGloo(timeout=timedelta(seconds=5)),
        min_replica_size=1,
        use_async_quorum=False,
        load_state_dict=load_state_dict,
        state_dict=state_dict,
        replica_id=f'train_{replica}',
        timeout=timedelta(seconds=10),
        init_sync=False)
    sampler = DistributedSampler(
        dataset, replica_rank=replica, num_replica_groups=groups,
        group_rank=0, num_replicas=1, shuffle=True, seed=task.seed())
    loader = DataLoader(dataset, batch_size=task.BATCH, sampler=sampler)
    with DiLoCo(manager, [model], optimizer, outer_optimizer,
                sync_every=task.TAU, backup_device=torch.device('cpu')):
        while manager.batches_committed() < task.EXCHANGED:
            for x, y in loader:
                loss = functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                task.mark(manager.batches_committed())  # bench
                if manager.batches_committed() >= task.EXCHANGED:
                    break
    task.finish(model)  # bench
    manager.shutdown(wait=False)


if __name__ == '__main__':
    main()
