"""Who may include whom: the house as a table.

A layer may look down, never up or sideways. Below the I/O line (layers 0-2)
there is no clock, thread, lock, file, socket, log or random device.
"""

import posixpath

BASE, PURE, CORE, SEAM, ADAPTER, SHELL, MAIN, TOP = range(8)

# The longest prefix wins.
_LAYERS = {
    'base': BASE,
    'job': PURE,
    'planner': PURE,
    'compression': PURE,
    'optimizer': PURE,
    'model': PURE,
    'data': PURE,
    'data/sentencepiece/main': MAIN,
    'protocol': PURE,
    'identity': PURE,
    'coordinator/core': CORE,
    'coordinator/page': CORE,
    'worker/core': CORE,
    'trainer/core': CORE,
    'trainer/attach/core': CORE,
    'runtime': SEAM,
    'transport': SEAM,
    'checkpoint': ADAPTER,
    'identity/x509': ADAPTER,
    'data/prepare': ADAPTER,
    'runtime/posix': ADAPTER,
    'runtime/s3': ADAPTER,
    'transport/grpc': ADAPTER,
    'transport/nccl': ADAPTER,
    'transport/shm': ADAPTER,
    'transport/tcp': ADAPTER,
    'transport/memory': ADAPTER,
    'job/convert': ADAPTER,
    'coordinator/convert': ADAPTER,
    'worker/convert': ADAPTER,
    'trainer/convert': ADAPTER,
    'trainer/attach/convert': ADAPTER,
    'protocol/convert': ADAPTER,
    'coordinator/service': SHELL,
    'worker/daemon': SHELL,
    'worker/shell': SHELL,
    'trainer/service': SHELL,
    'trainer/attach/service': SHELL,
    'simulator': SHELL,
    'coordinator/main': MAIN,
    'worker/main': MAIN,
    'trainer/main': MAIN,
    'trainer/attach/main': MAIN,
    'trainer/kit/main': MAIN,
    'cli': MAIN,
    'tests': TOP,
    'bench': TOP,
    'research': TOP,
}
_CUDA_HOMES = ('model', 'optimizer', 'compression')

# The rooms of the coordinator's core, from the records of the journal up to
# what operators see. A room may include those before it.
_ROOMS = ('coordinator/core/log', 'coordinator/core/state',
          'coordinator/core/rules', 'coordinator/core/views',
          'coordinator/core')

# Folders that know operators and tensors. The trainer seam keeps the rest of
# the house free of them.
_ENGINE = ('model/exec', 'model/cpu', 'model/cuda')
_ENGINE_USERS = ('model', 'optimizer/inner', 'data', 'trainer', 'tests',
                 'bench', 'cli')


def inside(path, *folders):
    return any(path == f or path.startswith(f + '/') for f in folders)


def top(path):
    return path.split('/')[0]


def layer(path):
    """The layer of a file, or None when it is outside the house."""
    parts = posixpath.dirname(path).split('/')
    if parts[0] in _CUDA_HOMES and 'cuda' in parts:
        return ADAPTER
    for length in range(len(parts), 0, -1):
        found = _LAYERS.get('/'.join(parts[:length]))
        if found is not None:
            return found
    return None


def is_test(path):
    """Code that is linked into tests alone."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return (stem.endswith(('_test', '_testutil')) or
            'testing' in path.split('/')[:-1] or
            inside(path, 'tests', 'research'))


def may_speak_proto(path):
    """Whether generated messages and gRPC may appear in `path`."""
    parts = path.split('/')[:-1]
    return (is_test(path) or
            inside(path, 'transport/grpc', 'cli', 'proto', 'bench',
                   'simulator') or
            bool({'convert', 'service', 'daemon', 'main'} & set(parts)))


def may_speak_cuda(path):
    return 'cuda' in path.split('/')[:-1] or inside(
        path, 'transport/nccl', 'tests', 'bench')


def _sideways_is_fine(path, target):
    """Both are in one layer, in different top folders."""
    if top(path) == 'planner':
        if inside(target, 'model/spec'):
            return True
        parts = target.split('/')
        return (parts[0] in ('compression', 'optimizer') and
                not {'cpu', 'cuda'} & set(parts))
    # The job spec rests on the words of every pure folder, and every role's
    # convert reads it.
    if inside(path, 'job') and not inside(path, 'job/convert'):
        parts = target.split('/')
        return (parts[0] in ('planner', 'compression', 'optimizer', 'data') and
                not {'cpu', 'cuda'} & set(parts)) or inside(target,
                                                            'model/spec')
    # What both roles say rests on the words of the pure folders.
    if inside(path, 'protocol') and not inside(path, 'protocol/convert'):
        return inside(target, 'job', 'data', 'compression')
    if inside(target, 'job/convert', 'protocol/convert'):
        return True
    # Credentials are made of keys and certificates.
    if inside(path, 'transport/grpc') and inside(target, 'identity/x509'):
        return True
    # It is the machine under the shells of both roles.
    if top(path) == 'simulator':
        return True
    # A link hands its work to the machine through the same seams.
    return top(path) == 'transport' and top(target) == 'runtime'


def _room(path):
    folder = posixpath.dirname(path)
    return _ROOMS.index(folder) if folder in _ROOMS else -1


def house(folder):
    """The folders whose tests count for a folder: rooms share theirs."""
    return _ROOMS if folder in _ROOMS else (folder,)


def why_not(path, target):
    """Why `path` may not include `target` (both in the house), or None."""
    if is_test(path):
        return None
    if is_test(target):
        if inside(path, 'bench'):
            return None
        return 'only tests may see */testing and test code'
    own, other = layer(path), layer(target)
    if own is None or other is None:
        return None
    if other > own:
        return (f'layer {own} may not look up to layer {other}; '
                'turn the dependency round or pass a value')
    roles = {top(path), top(target)}
    if roles == {'coordinator', 'worker'}:
        return ('coordinator and worker share only proto, base, protocol, job, '
                'planner and model/spec')
    if -1 < _room(path) < _room(target):
        return ('rooms of the core look down: log, state, rules, views; '
                'turn the dependency round or pass a value')
    if inside(target, *_ENGINE) and not inside(path, *_ENGINE_USERS):
        return 'operators stay behind the trainer seam; use model/spec'
    if (own == other and len(roles) == 2 and own < TOP and
            not _sideways_is_fine(path, target)):
        return (f'layer {own} may not look sideways; move what is shared '
                'down a layer')
    return None
