"""Two sites behind NATs that forward nothing train one job through a relay."""

import time

from local_cluster import checks
from local_cluster import job
from local_cluster.islands import Island, Reached
from local_cluster.progress import Progress

# A second site whose worker opens every connection.
LONE = Island('lone', rate_mbit_s=200, reached=Reached.REVERSE)
_HIDDEN, _LONE = 'hidden0', 'lone0'
# One takes part in the job, and one only relays.
_RELAYS = {'hub0': 'north', 'spare0': 'east'}
_JOB, _ISLANDS = 'relayed', ('hidden', 'lone', 'hub')
_PORT = 7480
_CONTEXT, _BATCH, _TAU, _ROUNDS = 32, 8, 12, 250
# A lease, and what a worker takes to say the next thing.
_TAKEN_OVER_S = 10.0


def _until(good, wait_s):
    began = time.monotonic()
    while time.monotonic() < began + wait_s:
        if good():
            return time.monotonic() - began
        time.sleep(0.05)
    return None


def start(cluster, pin, lone):
    """Starts two relays at sites that can be dialled, and `lone` again, which
    has joined before."""
    cluster.workers.append(lone)
    lone.daemon.start()
    for name, site in _RELAYS.items():
        cluster.join(name.rstrip('0'), name, pin, site, [
            '--listen', f'0.0.0.0:{_PORT}', '--advertise',
            f'{cluster.hosts[site].address}:{_PORT}', '--relay'])


def _relay(cluster):
    """The relay between the two, as the coordinator says for both."""
    views = cluster.views()
    found = {views[name]['reached'] for name in (_HIDDEN, _LONE)}
    return next((name for name in _RELAYS if found == {f'relay {name}'}), None)


def _goes_on(cases, cluster, applied, what, supervised):
    ahead = int(cluster.ctl.job(_JOB)['sequence']) + 3

    def there():
        if supervised:
            cluster.supervise()
        return all(applied(cluster, _JOB, island) >= ahead
                   for island in ('hidden', 'lone'))
    took = _until(there, 60)
    cases.check(f'both sites take part again after {what}', took is not None,
                f'{took and round(took, 1)} s until they had applied {ahead}')


def _another(cases, cluster, applied):
    used = _relay(cluster)
    other = next(name for name in _RELAYS if name != used)
    cluster.worker(used).daemon.kill()
    took = _until(lambda: _relay(cluster) == other, _TAKEN_OVER_S)
    cases.check(f'when {used} is killed, {other} relays', took is not None,
                f'{took and round(took, 1)} s of {_TAKEN_OVER_S:.0f} s')
    _goes_on(cases, cluster, applied, 'the relay was killed', False)


def _both(cases, cluster, applied):
    for name in _RELAYS:
        cluster.worker(name).daemon.kill()
    _goes_on(cases, cluster, applied, 'both relays were killed and came back',
             True)


def train(cases, cluster, data, seed, applied):
    """`applied(cluster, job, island)` says how far an island is."""
    cluster.submit(job.job(
        _JOB, data, job.gpt2_config(2, 64, 2, _CONTEXT),
        len(_ISLANDS) * _BATCH * _TAU * _ROUNDS, _BATCH, _TAU, seed=seed,
        workers_min=len(_ISLANDS), islands=_ISLANDS))
    _until(lambda: checks.samples(cluster, _JOB) > 0, 60)
    views = cluster.views()
    relay = _relay(cluster)
    cases.check('two sites that nobody can dial have a relay',
                relay is not None, str({name: view['reached'] for name, view in
                                        views.items()}))
    pairs = {name: int(views[name].get('relayed_pairs', 0))
             for name in _RELAYS}
    cases.check('the coordinator says how many pairs it relays',
                pairs == {name: int(name == relay) for name in _RELAYS},
                str(pairs))
    progress = Progress(cluster, _JOB, _ROUNDS, None, stuck_after_s=60)
    progress.at(0.2, 'kill the relay',
                lambda: _another(cases, cluster, applied))
    progress.at(0.5, 'kill both relays',
                lambda: _both(cases, cluster, applied))
    progress.wait()
    checks.end_of_job(cases, cluster, _JOB)
