"""One of several processes that average a vector by Gloo, again and again.

gloo.py RANK RANKS FILE VALUES TIMES [sum]  writes a JSON line for each time:
how long it took, and what it cost this process in CPU time. With `sum` they
sum, and divide by nothing.
"""

import json
import sys
import time

import torch

torch.set_num_threads(1)


def main():
    rank, ranks, file, values, times, *sums = sys.argv[1:]
    torch.distributed.init_process_group(
        'gloo', init_method=f'file://{file}', rank=int(rank),
        world_size=int(ranks))
    vector = torch.ones(int(values))
    for _ in range(int(times)):
        torch.distributed.barrier()
        began, spent = time.monotonic(), time.process_time()
        torch.distributed.all_reduce(vector)
        if not sums:
            vector /= int(ranks)
        print(json.dumps({'took_s': time.monotonic() - began,
                          'cpu_s': time.process_time() - spent}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == '__main__':
    main()
