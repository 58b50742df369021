"""Values as JSON and back, without pickle: numbers, text, lists, dictionaries,
and tensors, which go to a file of their own."""

import math

import torch

from skerry import tensorfile

_MARK = '#'


class Foreign(Exception):
    """A value that cannot be written; the message says which."""


def encode(value, keep):
    """`value` as JSON. `keep(tensor)` takes a tensor and returns the name that
    it has in the file. Raises Foreign."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_MARK: 'float',
                                                   'v': repr(value)}
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value, keep)
    if isinstance(value, (list, tuple)):
        items = [encode(one, keep) for one in value]
        if type(value) is list:
            return items
        if type(value) is tuple:
            return {_MARK: 'tuple', 'v': items}
    if isinstance(value, dict):
        return {_MARK: 'dict', 'v': [[encode(key, keep), encode(one, keep)]
                                     for key, one in value.items()]}
    raise Foreign(f'it has a {type(value).__name__}')


def _encode_tensor(tensor, keep):
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise Foreign(f'it has a {type(tensor).__name__}')
    if not tensorfile.knows(tensor.dtype):
        raise Foreign(f'it has values of {tensor.dtype}')
    place = {'on': 'cpu' if tensor.device.type == 'cpu' else 'device'}
    if tensor.dim() == 0:
        return {_MARK: 'scalar', 't': str(tensor.dtype).split('.')[1],
                'v': encode(tensor.item(), keep), **place}
    return {_MARK: 'tensor', 'v': keep(tensor.detach()), **place}


def decode(value, find, device='cpu'):
    """What `encode` was given. `find(name)` returns a tensor on the processor,
    and `device` is where the others were. Raises ValueError."""
    if isinstance(value, list):
        return [decode(one, find, device) for one in value]
    if not isinstance(value, dict):
        return value
    kind, held = value.get(_MARK), value.get('v')
    if kind == 'float':
        return float(held)
    if kind == 'tuple':
        return tuple(decode(one, find, device) for one in held)
    if kind == 'dict':
        return {decode(key, find, device): decode(one, find, device)
                for key, one in held}
    if kind not in ('scalar', 'tensor'):
        raise ValueError(f'an object of the unknown kind {kind!r:.40}')
    if kind == 'scalar':
        tensor = torch.tensor(decode(held, find), dtype=getattr(
            torch, value['t']))
    else:
        tensor = find(held)
    return tensor if value['on'] == 'cpu' else tensor.to(device)
