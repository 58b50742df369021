"""Strangers at the ports of a cluster that trains: the cases of the suite
network about them."""

import os
import subprocess
import time

from local_cluster import authority
from local_cluster import checks
from local_cluster import flood

# What strangers send in each of two waves: calls are those of each of 4 kinds.
_WAVE = {'half': 1000, 'noise': 2300, 'http': 2300, 'foreign': 400,
         'calls': 5000, 'joins': 100, 'frames': 23900}
_WAVE_S = 7
# One more of each kind brings the lines that count those before it.
_LAST = {**{kind: 0 for kind in _WAVE}, 'noise': 1, 'http': 1, 'calls': 1,
         'frames': 1}
_LINES_AT_ONCE, _LINES_PER_S = 20, 1
# 1,000 open handshakes take 70 KiB each. The second wave finds room that the
# first one has left, though not all of it in one piece.
_WAVES_MIB_MAX, _AGAIN_SHARE_MAX, _AGAIN_MIB_MIN = 160, 0.8, 16
_DESCRIPTORS_MORE = 20
_UNAUTHENTICATED, _DENIED, _EXHAUSTED = '16', '7', '8'
_PACE_S = 4.0
_CALM_S = 30


def _plan(cluster, directory, name, seed):
    """What strangers.py is told; `name` is the job whose frames they send."""
    other = authority.Authority(os.path.join(directory, 'other'), 'lab')
    foreign = os.path.join(directory, 'foreign')
    other.write(foreign, 'operator/admin/root')
    viewer, thief = (cluster.operator(who, role)
                     for who, role in (('ann', 'viewer'), ('eve', 'admin')))
    cluster.ctl.run('revoke', 'operator/admin/eve')
    member = os.path.join(cluster.state_of('lone0'), 'credentials')
    request = subprocess.run(
        ['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt',
         'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null', '-subj',
         '/CN=guest', '-outform', 'DER'], capture_output=True, check=True)
    view = cluster.ctl.job(name)
    return {
        'seed': seed, 'lasting_s': _WAVE_S, 'coordinator': cluster.address,
        'worker': cluster.bulk_address('north'), 'foreign': foreign,
        'request': request.stdout.hex(),
        'callers': {
            'nobody': {'identity': None, 'methods': flood.forbidden('nobody')},
            'viewer': {'identity': viewer,
                       'methods': flood.forbidden('viewer')},
            'worker': {'identity': member,
                       'methods': flood.forbidden('worker')},
            'revoked': {'identity': thief, 'methods': flood.forbidden('')}},
        'member': {'name': 'lone0', 'identity': member},
        'job': int(view['id']),
        'replica': next(int(one['replica']) for one in view['replicas']
                        if one['island'] == 'east')}


def _admitted(came):
    """What strangers of one wave got that they should not have."""
    wrong = []
    for kind, found in came.items():
        if kind == 'health':
            good = found['received'] > 0 and found['statuses'] == {'0': 1}
        elif 'closed' in found:
            good = found['closed'] == found['sent']
        elif 'refused' in found:
            good = found['refused'] == found['sent']
        elif 'statuses' in found:
            allowed = {'joins with wrong tokens': {_DENIED, _EXHAUSTED},
                       'nobody': {_UNAUTHENTICATED},
                       'revoked': {_UNAUTHENTICATED}}.get(kind, {_DENIED})
            good = not found['received'] and set(found['statuses']) <= allowed
        else:
            good = True
        if not good:
            wrong.append(f'{kind}: {found}')
    return wrong


def _refusals(came):
    """{event: how many refusals the strangers have caused}"""
    sent = {kind: found['sent'] for kind, found in came.items()}
    return {'transport.handshake.failed':
            sent['bytes that are no TLS'] + sent['HTTP/1 requests']
            + sent['certificates of another CA'],
            'transport.call.refused':
            sum(sent.get(kind, 0) for kind in ('nobody', 'viewer', 'worker',
                                               'revoked')),
            'worker.frame.refused': sent['frames of another replica']}


def _nobody_gets_in(cases, waves, took_s):
    total = sum(found['sent'] for wave in waves for found in wave.values())
    wrong = [line for wave in waves for line in _admitted(wave)]
    sent = {kind: sum(wave[kind]['sent'] for wave in waves if kind in wave)
            for kind in waves[0]}
    cases.check(f'{total} strangers come and none is let in',
                not wrong and total >= 100_000,
                f"{took_s:.1f} s; {'; '.join(wrong) or sent}")


def _spend_little(cases, watch, first, peaks):
    """`peaks` are the most memory that was seen until the end of each wave."""
    calm_s = flood.settles(lambda: all(
        now[1] <= first[who][1] + _DESCRIPTORS_MORE
        for who, now in watch.now().items()), _CALM_S)
    once, both = ({who: peak[who][0] - first[who][0] for who in first}
                  for peak in peaks)
    cases.check('memory and descriptors of the daemons stay bounded',
                calm_s is not None and all(
                    both[who] <= _WAVES_MIB_MAX and both[who] - once[who]
                    <= max(_AGAIN_SHARE_MAX * once[who], _AGAIN_MIB_MIN)
                    for who in first),
                f'MiB and descriptors before {first}, at most {watch.peak}; '
                f'MiB that the first wave takes {once}, and both {both}; '
                f'{calm_s and round(calm_s, 1)} s after them {watch.now()}')


def _say_little(cases, watch, waves, daemons, lasted_s):
    size, lines, counted = watch.logged()
    due = {event: sum(_refusals(wave)[event] for wave in waves)
           for event in _refusals(waves[0])}
    # Each daemon counts its own.
    most = daemons * (_LINES_AT_ONCE + _LINES_PER_S * (lasted_s + 1))
    cases.check('few lines of the logs count all that was refused',
                counted == due and all(each <= most for each in lines.values()),
                f'{lines} lines for {counted} of {due}; the logs have grown by '
                f'{size / 1000:.0f} KB')


def come(cases, cluster, strangers, name, usual, seed, directory):
    """The cases. `usual` is the pace of the job `name` before they come, in
    samples a second; `directory` is for what they make up."""
    plan = _plan(cluster, directory, name, seed)
    watched = [cluster.coordinator, cluster.worker('north0').daemon]
    before = checks.lives(cluster, name)
    watch = flood.Watch(watched)
    first, all_s, done = (watch.now(), flood.processor_s(),
                          checks.samples(cluster, name))
    began = time.monotonic()
    waves, peaks, used_s = [], [], 0
    for _ in range(2):
        came, wave_s = strangers.come({**plan, 'counts': _WAVE})
        waves.append(came)
        used_s += wave_s
        peaks.append(dict(watch.peak))
    took_s = time.monotonic() - began
    pace = (checks.samples(cluster, name) - done) / took_s
    # Strangers are elsewhere, and here they take from the job what they use.
    left = 1 - used_s / (flood.processor_s() - all_s)
    usual = min(usual, checks.pace(cluster, name, _PACE_S))
    after = checks.lives(cluster, name)
    cases.check('the job goes on and keeps its lives while strangers come',
                after == before and pace > 0,
                f'{pace / usual:.2f} of the pace, with {left:.2f} of the '
                f'processor time; {before} lives before, {after} after')
    _spend_little(cases, watch, first, peaks)
    time.sleep(1.1 / _LINES_PER_S)
    nobody = {'nobody': plan['callers']['nobody']}
    waves.append(strangers.come({**plan, 'counts': _LAST,
                                 'callers': nobody})[0])
    watch.stop()
    _nobody_gets_in(cases, waves, took_s)
    _say_little(cases, watch, waves, len(watched), time.monotonic() - began)
