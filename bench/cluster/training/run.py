"""One job on a cluster of its own, and what it came to."""

import collections
import shutil

from local_cluster import checks
from local_cluster import suite
from local_cluster.cluster import LocalCluster
from local_cluster.islands import Island
from local_cluster.progress import Progress

from bench.cluster.training import links

# Where in a job its lateness is looked at, after the rounds without delay.
_LOOKS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_UNSLOWED_MBIT_S = 1000
_PACE = 'pace'

# view: of the job at its end. losses: (sequence, validation loss). late_steps,
# own_shares: at every look. failed: what is wrong, a line each. link_mbit_s:
# the rate of every island's link, or None.
Outcome = collections.namedtuple(
    'Outcome', 'view losses late_steps own_shares failed link_mbit_s')


def _pace_job(spec, islands):
    """A job like `spec` that exchanges behind its rounds, and is short."""
    tau, rounds = links.pace_rounds(spec['training']['tau'])
    training = {**spec['training'], 'tau': tau, 'samples':
                spec['training']['batch_samples'] * islands * tau * rounds}
    model = {name: value for name, value in spec['model'].items()
             if name != 'checkpoint'}
    return {**spec, 'name': _PACE, 'model': model, 'training': training,
            'outer': {'method': 'co2'}, 'exchange': {'codec': 'int8_block'}}


def _slow_down(cluster, spec, share):
    """Sets all links so that an exchange takes `share` of a round."""
    names = [island.name for island in cluster.islands]
    cluster.submit(_pace_job(spec, len(names)))
    view = Progress(cluster, _PACE, None, None).wait()
    took_s = links.round_s(cluster.ctl.json_lines('logs', _PACE),
                           spec['training']['tau'])
    rate = links.rate_mbit_s(int(view['parameters']), len(names), took_s, share)
    print(f'a round takes {took_s:.2f} s: links of {rate:.3g} Mbit/s',
          flush=True)
    for name in names:
        cluster.set_rate(name, rate)
    return rate


def train(place, islands, spec, share=0.0):
    """Trains `spec` on a new cluster of these islands; an Outcome.

    share: of a round that an exchange takes; with 0 no link is emulated. Raises
    what submitting and waiting raise. The cluster is stopped and removed.
    """
    emulated = share > 0 and len(islands) > 1
    cluster = place.cluster(lambda programs, directory: LocalCluster(
        programs, directory,
        [Island(name, rate_mbit_s=_UNSLOWED_MBIT_S if emulated else 0)
         for name in islands]))
    name, late, shares = spec['name'], [], []

    def look():
        seen = cluster.ctl.job(name)
        if seen:
            late.append(float(seen['late_steps']))
            shares.append(float(seen['own_share']))

    try:
        cluster.start()
        rate = _slow_down(cluster, spec, share) if emulated else None
        cluster.submit(spec)
        progress = Progress(cluster, name, None, None)
        for at in _LOOKS:
            progress.at(at, 'a look', look)
        progress.wait()
        cases = suite.Cases()
        view = checks.end_of_job(cases, cluster, name)
    finally:
        cluster.stop()
        place.clusters.remove(cluster)
        shutil.rmtree(cluster.directory, ignore_errors=True)
    losses = [(int(at['sequence']), float(at['validation_loss']))
              for at in view['losses'] if 'validation_loss' in at]
    return Outcome(view, losses, late, shares, cases.failed, rate)
