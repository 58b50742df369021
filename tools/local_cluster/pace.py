"""How many rounds a job needs here, so that what a suite does to it meets it.

A round of a suite's small job takes 5 ms on one machine and 100 ms on another.
A job of a fixed number of rounds is over before its worker is killed on the
first, or takes minutes on the second.
"""

import math

from local_cluster import job
from local_cluster.progress import Progress

_MEASURED_ROUNDS = 8
# Many times what it takes to see how far a job is and to kill a process.
_LASTING_S = 3.0


def round_s(cluster, data, batch, tau, islands=()):
    """Seconds that a round of a GPT-2 of width 64 takes."""
    name = '-'.join(['pace', *islands])
    workers = [w for w in cluster.workers if not islands or w.island in islands]
    cluster.submit(job.job(
        name, data, job.gpt2_config(2, 64, 2, 32),
        len(workers) * batch * tau * _MEASURED_ROUNDS, batch, tau,
        workers_min=len(workers), islands=islands))
    Progress(cluster, name, _MEASURED_ROUNDS, None, stuck_after_s=60).wait()
    return between_commits_s(cluster.ctl, name)


def between_commits_s(ctl, name):
    """Seconds from one commit of a job to the next, in the mean."""
    ages_ms = [int(event['age_ms']) for event in ctl.json_lines('logs', name)
               if event['name'] == 'Committed']
    return (max(ages_ms) - min(ages_ms)) / 1000 / (len(ages_ms) - 1)


def rounds(cluster, data, batch, tau, fewest, islands=(),
           lasting_s=_LASTING_S):
    """Rounds of such a model that take that long, but not fewer."""
    took_s = round_s(cluster, data, batch, tau, islands)
    found = max(fewest, math.ceil(lasting_s / max(took_s, 1e-3)))
    print(f'a round takes {took_s * 1e3:.1f} ms here: jobs of {found} rounds',
          flush=True)
    return found
