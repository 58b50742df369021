"""The inner state: what the next step reads beside values and samples. It is
the optimizer's state for each parameter, the scaler, the buffers that are not
exchanged, and whatever the program names at attach.

State tensors of their parameter's shape are slots, which lie in the file in the
order of the table, so that each rank writes and reads what it holds of them.
The rest is small or is equal in all ranks: rank 0 writes it, and all read it.
"""

import json
import os
import sys

import torch

from skerry import plain
from skerry import state
from skerry import tensorfile
from skerry.line import Refused

_JSON_BYTES_MAX = 1 << 20
_VERSION = '1'


class _Part:
    """A tensor of a file. This rank writes the elements from `begin` on, and
    `values`, flat, has them; None: another rank does."""

    def __init__(self, name, tensor, shape, begin=0, values=None):
        self.name, self.dtype, self.shape = name, tensor.dtype, tuple(shape)
        self.begin, self.values = begin, values


class Inner:
    """Saves and loads the inner state of one rank.

    scaler: the loop's GradScaler, or None.
    extra: {name: object with state_dict() and load_state_dict()}.
    """

    def __init__(self, table, models, optimizer, scaler, extra, rank):
        for name, one in extra.items():
            if not (hasattr(one, 'state_dict')
                    and hasattr(one, 'load_state_dict')):
                raise ValueError(f'state: {name} has no state_dict() and '
                                 'load_state_dict()')
        self._table, self._models = table, models
        self._optimizer, self._scaler = optimizer, scaler
        self._extra, self._rank = extra, rank
        self._said_cold = False
        # Steps behind it, in this process and in those before it.
        self.steps = 0

    @torch.no_grad()
    def save(self, path, sequence, layout_hash, position):
        """Writes this rank's part of the file at `path`, which is there and
        empty. Returns the bytes of the file. Raises Refused."""
        state.reshard(self._models)
        parts, cold = [], {}
        said = {'steps': self.steps, 'position': position,
                'optimizer': self._name(),
                **self._collect(parts, cold)}
        if cold and not self._said_cold and self._rank == 0:
            name, why = next(iter(cold.items()))
            print(f'skerry: the inner state of {len(cold)} parts is not saved '
                  f'and starts cold after a restart, {name} first: {why}.',
                  file=sys.stderr)
        self._said_cold = True
        text = json.dumps(said, separators=(',', ':'))
        if len(text) > _JSON_BYTES_MAX:
            raise Refused('INVALID_ARGUMENT', 'the inner state beside its '
                          f'tensors has {len(text)} bytes; at most '
                          f'{_JSON_BYTES_MAX} are saved')
        plan = tensorfile.Plan(
            [(one.name, one.dtype, one.shape) for one in parts],
            {'skerry.inner': _VERSION, 'skerry.layout_hash': str(layout_hash),
             'skerry.sequence': str(sequence), 'skerry.state': text})
        self._write(path, plan, parts)
        return plan.bytes

    def _write(self, path, plan, parts):
        try:
            file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                if self._rank == 0:
                    os.ftruncate(file, plan.bytes)
                    tensorfile.write(file, 0, plan.header)
                for index, one in enumerate(parts):
                    if one.values is not None:
                        plan.write(file, index, one.begin, one.values)
            finally:
                os.close(file)
        except OSError as error:
            raise Refused('RESOURCE_EXHAUSTED', f'{path}: {error}') from error

    @torch.no_grad()
    def load(self, path, layout_hash):
        """Takes the inner state of the file at `path`. Returns its (sequence,
        position). Raises Refused, and nothing was changed, when it is not one
        of these models and this optimizer."""
        try:
            reader = tensorfile.Reader(path)
            metadata = reader.metadata
            if metadata.get('skerry.inner') != _VERSION:
                raise ValueError('it is no inner state of version '
                                 + _VERSION)
            if metadata.get('skerry.layout_hash') != str(layout_hash):
                raise ValueError('it is one of another layout')
            said = json.loads(metadata['skerry.state'])
            if said['optimizer'] != self._name():
                raise ValueError(f"it is one of {said['optimizer']!r:.60}, and "
                                 f'the optimizer is {self._name()}')
            sequence = int(metadata['skerry.sequence'])
            steps, position = int(said['steps']), int(said['position'])
            new = self._prepared(reader, said)
        except (OSError, ValueError, KeyError, TypeError, AttributeError,
                RuntimeError) as error:
            raise Refused('INVALID_ARGUMENT', f'the inner state {path}: '
                          f'{type(error).__name__}: {error}') from error
        self._apply(*new)
        self.steps = steps
        return sequence, position

    def _name(self):
        # Accelerate and others wrap it.
        optimizer = getattr(self._optimizer, 'optimizer', self._optimizer)
        return type(optimizer).__name__

    def _collect(self, parts, cold):
        """Adds the tensors to `parts`, and to `cold` {what: why} of what
        cannot be saved. Returns the JSON members."""
        extra = []

        def keep(tensor):
            values = tensor.contiguous().view(-1) if self._rank == 0 else None
            extra.append(_Part(f'extra/{len(extra)}', tensor, tensor.shape,
                               values=values))
            return extra[-1].name

        def tried(name, value):
            before = len(extra)
            try:
                return {name: plain.encode(value(), keep)}
            except plain.Foreign as error:
                del extra[before:]
                cold[name] = str(error)
                return {}

        said = {'parameters': self._collect_slots(parts, cold, tried)}
        for name, (module, attribute) in state.local_buffers(
                self._models, self._table).items():
            said.setdefault('buffers', {}).update(
                tried(name, lambda: module._buffers[attribute]))
        for name, one in self._extra.items():
            said.setdefault('state', {}).update(tried(name, one.state_dict))
        if self._scaler is not None:
            said |= tried('scaler', self._scaler.state_dict)
        parts += extra
        return said

    def _collect_slots(self, parts, cold, tried):
        by_slot, said = {}, {}
        for entry in self._entries():
            held = self._optimizer.state.get(entry.parameter)
            if not held:
                continue
            slots = {key: one for key, one in held.items()
                     if entry.is_slot(one)}
            others = {key: one for key, one in held.items()
                      if key not in slots}
            sharded = [key for key, one in others.items()
                       if entry.sharded and isinstance(one, torch.Tensor)
                       and one.dim()]
            if sharded:
                cold[entry.name] = (f'{sharded[0]} has another shape than the '
                                    'parameter, which is sharded')
                continue
            rest = tried(entry.name, lambda: others)
            if not rest:
                continue
            said |= {entry.name: [list(slots), rest[entry.name]]}
            for key, one in slots.items():
                low, high = entry.part
                by_slot.setdefault(key, []).append(_Part(
                    f'{key}/{entry.name}', one, entry.shape, low,
                    entry.held(one)[low - entry.begin:high - entry.begin]))
        for those in by_slot.values():
            parts += those
        return said

    def _entries(self):
        return [entry for entry in self._table.entries
                if not isinstance(entry, state.BufferEntry)]

    def _prepared(self, reader, said):
        """All that _apply needs. Raises for what does not fit."""
        entries = {entry.name: entry for entry in self._entries()}

        def find(name):
            return reader.values(name).view(reader.shape(name))

        moments = {}
        for name, (slots, others) in said['parameters'].items():
            entry = entries[name]
            device = entry.parameter.device
            made = plain.decode(others, find, device)
            for key in slots:
                tensor = f'{key}/{name}'
                if reader.shape(tensor) != entry.shape:
                    raise ValueError(f'{tensor} is {reader.shape(tensor)}, and '
                                     f'the parameter {entry.shape}')
                made[key] = entry.like(reader.values(tensor, entry.begin,
                                                     entry.end))
            moments[entry.parameter] = made
        places = state.local_buffers(self._models, self._table)
        buffers = []
        for name, value in said.get('buffers', {}).items():
            module, attribute = places[name]
            value = plain.decode(value, find)
            if value.shape != module._buffers[attribute].shape:
                raise ValueError(f'the buffer {name} has another shape')
            buffers.append((module._buffers[attribute], value))
        home = self._entries()[0].device
        extra = [(self._extra[name], plain.decode(value, find, home))
                 for name, value in said.get('state', {}).items()]
        if self._scaler is not None and 'scaler' in said:
            extra.append((self._scaler, plain.decode(said['scaler'], find,
                                                     home)))
        return moments, buffers, extra

    def _apply(self, moments, buffers, extra):
        for parameter, made in moments.items():
            self._optimizer.state[parameter] = made
        for buffer, value in buffers:
            buffer.copy_(value)
        for one, value in extra:
            one.load_state_dict(value)
