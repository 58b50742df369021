"""What the benches that train can name: methods, and the settings of each.

docs/methods.md says which paper a method is from, and what differs.
"""

import collections

SYNCHRONOUS = 'synchronous'
# The methods whose results wait for an exchange that goes on while a replica
# trains. Only for them does it matter how long an exchange takes.
_DELAYED = ('co2', 'average_plus_local_delta', 'late', 'dasgd')
_FRAGMENTS = 4

# outer, exchange: what the job file has there. optimizers: the inner ones that
# the method is defined for.
Setting = collections.namedtuple('Setting', 'outer exchange optimizers')


def _setting(method, codec='int8_block', fragments=None, optimizers=(),
             beta=None, **outer):
    exchange = {'codec': codec}
    if fragments:
        exchange['fragments'] = fragments
    if beta is not None:
        outer['beta'] = beta
    return Setting({'method': method, **outer}, exchange,
                   optimizers or ('adamw', 'muon'))


def _eager(replicas, **outer):
    return _setting('late', own_share=1 / replicas, **outer)


def _muloco(codec):
    return _setting('diloco', codec=codec, beta=1, optimizers=('muon',))


def _sparse(codec):
    return _setting('local_sgd', codec=codec, beta=0.95)


# Name -> {name of a setting: Setting of so many replicas}. The first setting is
# the method as its preset, or its paper, has it.
_METHODS = {
    # One replica that averages with nobody. Nothing has to travel.
    SYNCHRONOUS: {
        'preset': lambda _: _setting('local_sgd', codec='raw_f32')},
    'local_sgd': {
        # Averaging has no number to set.
        'preset': lambda _: _setting('local_sgd')},
    'diloco': {
        'preset': lambda _: _setting('diloco'),
        'momentum_0.5': lambda _: _setting('diloco', momentum=0.5)},
    'co2': {
        'preset': lambda _: _setting('co2'),
        'rate_0.8': lambda _: _setting('co2', learning_rate=0.8,
                                       accept_weak_damping=True)},
    'average_plus_local_delta': {
        'preset': lambda _: _setting('average_plus_local_delta'),
        'points_12': lambda _: _setting('average_plus_local_delta',
                                        apply_points=12)},
    'dasgd': {
        'preset': lambda _: _setting('dasgd'),
        'mix_0.5': lambda _: _setting('dasgd', mix=0.5)},
    'late': {
        'preset': lambda _: _setting('late'),
        'points_12': lambda _: _setting('late', apply_points=12)},
    'eager': {
        'points_1': lambda replicas: _eager(replicas, apply_points=1,
                                            accept_weak_damping=True),
        'points_12': lambda replicas: _eager(replicas, apply_points=12,
                                             accept_weak_damping=True)},
    'streaming': {
        'diloco': lambda _: _setting('diloco', fragments=_FRAGMENTS),
        'late_0.5': lambda _: _setting('late', fragments=_FRAGMENTS,
                                       own_share=0.5)},
    'sparseloco': {
        'one_in_64': lambda _: _sparse('chunk_top_k/64'),
        'one_in_32': lambda _: _sparse('chunk_top_k/32')},
    'muloco': {
        'nf4': lambda _: _muloco('nf4'),
        'lloyd2': lambda _: _muloco('lloyd2'),
        'sign1': lambda _: _muloco('sign1')},
}
NAMES = tuple(_METHODS)


def settings(method, replicas):
    """{name: Setting} of a method that so many replicas train with."""
    return {name: make(replicas) for name, make in _METHODS[method].items()}


def delayed(setting):
    """Whether replicas train on while a result is on its way."""
    return setting.outer['method'] in _DELAYED
