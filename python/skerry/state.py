"""The flat state: which values of the models Skerry exchanges, and their copies
between the models and the memory that is shared with the worker.

The flat state is every parameter that requires a gradient, in the order of
named_parameters(), as fp32 without gaps. Floating buffers that are saved, such
as BatchNorm's running statistics, follow behind a gap. The cluster averages
them over the replicas.
"""

import bisect
import ctypes
import hashlib
import mmap
import os
import sys

import torch

from skerry import copies
from skerry import names
from skerry import tensorfile
from skerry.line import Refused

_DTYPES = {torch.float32: 'DTYPE_F32', torch.bfloat16: 'DTYPE_BF16',
           torch.float16: 'DTYPE_F16'}
# Values that are hashed at once.
_PIECE = 128 << 10
_FP32_BYTES = 4
# Averaged values begin at the first multiple behind the parameters.
_AVERAGE_ALIGNMENT = 4096


def local_buffers(models, table):
    """{name: (module, attribute)} of the buffers that state_dict() has and
    `table` does not: whole numbers, and what stays in each replica."""
    exchanged = {id(entry._tensor()) for entry in table.entries
                 if isinstance(entry, BufferEntry)}
    found = {}
    for key, model in names.by_key(models).items():
        for path, module in model.named_modules():
            for attribute, buffer in module.named_buffers(recurse=False):
                if (attribute in module._non_persistent_buffers_set
                        or id(buffer) in exchanged):
                    continue
                name = names.unwrapped_name(
                    model, f'{path}.{attribute}' if path else attribute)
                found[f'{key}.{name}' if key else name] = module, attribute
    return found


def _is_dtensor(tensor):
    # Without torch.distributed there is no such type to ask for.
    return hasattr(tensor, 'device_mesh') and hasattr(tensor, 'placements')


def _chunk(begin, end, parts, index):
    """Part `index` of the rows [begin, end), cut as torch.chunk cuts."""
    most = -(-(end - begin) // parts)
    low = min(begin + most * index, end)
    return low, min(low + most, end)


def own_rows(name, parameter):
    """The rows [begin, end) along dimension 0 that this rank holds of a
    DTensor. Raises ValueError for a placement that is not along rows."""
    coordinate = parameter.device_mesh.get_coordinate()
    begin, end = 0, parameter.shape[0] if parameter.dim() else 1
    for dimension, placement in enumerate(parameter.placements):
        if placement.is_replicate():
            continue
        # A strided shard is a subclass in some releases, and not rows in one
        # piece.
        if type(placement).__name__ != 'Shard' or placement.dim != 0:
            raise ValueError(f'parameter {name} is placed as {placement}: '
                             'Skerry takes shards along dimension 0 and '
                             'replicas')
        begin, end = _chunk(begin, end, parameter.device_mesh.size(dimension),
                            coordinate[dimension])
    held = parameter.to_local().shape[0] if parameter.dim() else 1
    if held != end - begin:
        raise ValueError(f'parameter {name}: this rank holds {held} rows where '
                         f'{end - begin} were expected')
    return begin, end


def reshard(models):
    """Frees the whole parameters that FSDP2 keeps after a forward without a
    backward. They would hide the parts that are copied, and keep old values."""
    if 'torch.distributed.fsdp' not in sys.modules:
        return
    for model in names.by_key(models).values():
        for module in model.modules():
            if type(module).__name__.startswith('FSDP') and hasattr(
                    module, 'reshard'):
                module.reshard()


class Entry:
    """One tensor of the flat state.

    The rank holds the elements [begin, end) of it, and writes those of `part`
    in a snapshot.
    """

    kind = 'parameter'
    _RULE = {}

    def __init__(self, name, parameter, offset, rank, world):
        if parameter.dtype not in _DTYPES:
            raise ValueError(f'parameter {name} is {parameter.dtype}: trained '
                             'parameters are float32, bfloat16 or float16')
        self.name, self.tied, self.offset = name, [], offset
        self.parameter = parameter
        self.shape, self._dtype = tuple(parameter.shape), parameter.dtype
        self.size = parameter.numel()
        self.begin, self.end = 0, self.size
        if _is_dtensor(parameter):
            row = self.size // max(1, self.shape[0]) if self.shape else 1
            self.begin, self.end = (
                row * at for at in own_rows(name, parameter))
            self.part = self.begin, self.end
        else:
            self.part = (self.size * rank // world,
                         self.size * (rank + 1) // world)
        # What was loaded last into 16 bits, before it was rounded.
        self._loaded = None

    @property
    def rounds(self):
        """Whether values are rounded when they are loaded."""
        return self._dtype != torch.float32

    @property
    def device(self):
        """Where the values are now."""
        return self._tensor().device

    def keep_loaded(self, memory):
        """Keeps what is loaded in `memory`: fp32 on the host, end - begin of
        them. The values of now count as loaded."""
        self._loaded = memory
        self._loaded.copy_(self._flat(self._local()))

    def described(self):
        """The message Tensor of trainer.proto."""
        return {'name': self.name, 'shape': [str(n) for n in self.shape],
                'dtype': _DTYPES[self._dtype], 'offset': str(self.offset),
                'tied': self.tied, **self._RULE}

    def pieces(self, low, high):
        """The elements [low, high) in the parts that are copied at once."""
        if not self.rounds:
            return [(low, high)]
        return copies.pieces(self._local(), low, high)

    def copy_out(self, low, high, memory):
        """Queues the copy of the elements [low, high) to `memory`, fp32 of that
        size.

        A value in 16 bits counts as what was loaded and how far it moved since.
        So a round without steps contributes exactly 0.
        """
        part = slice(low - self.begin, high - self.begin)
        flat = self._flat(self._local())[part]
        if self._loaded is None:
            copies.out(flat, memory)
        else:
            copies.moved_out(flat, self._loaded[part], memory)

    def copy_in(self, low, high, memory):
        """Queues the copy of `memory`, fp32, to the elements [low, high)."""
        local = self._local()
        flat = self._flat(local)
        part = slice(low - self.begin, high - self.begin)
        if self._loaded is None:
            copies.into(memory, flat[part])
        else:
            copies.rounded_into(memory, flat[part], self._loaded[part])
        if flat.data_ptr() != local.data_ptr():
            local.copy_(flat.view(local.shape))

    @property
    def sharded(self):
        """Whether this rank holds a part of it only."""
        return _is_dtensor(self.parameter)

    def is_slot(self, value):
        """Whether a value of an optimizer's state lies as the parameter
        does."""
        if (not isinstance(value, torch.Tensor)
                or not value.is_floating_point()
                or not tensorfile.knows(value.dtype)
                or tuple(value.shape) != self.shape
                or value.device != self.parameter.device
                or _is_dtensor(value) != self.sharded):
            return False
        return not self.sharded or (value.placements
                                    == self.parameter.placements)

    def held(self, value):
        """What this rank holds of a slot, flat."""
        value = value.detach()
        return self._flat(value.to_local() if self.sharded else value)

    def like(self, values):
        """A slot with these values, which this rank holds of it."""
        made = torch.zeros_like(self.parameter.detach(), dtype=values.dtype)
        local = made.to_local() if self.sharded else made
        local.copy_(values.view(local.shape))
        return made

    def is_among(self, parameters, buffers):
        """Whether it is in what named_parameters() and saved_buffers() find
        now."""
        del buffers
        return parameters.get(self.name) is self.parameter

    def _tensor(self):
        return self.parameter

    def _local(self):
        tensor = self._tensor().detach()
        if tuple(tensor.shape) != self.shape:
            raise ValueError(f'{self.kind} {self.name} was {self.shape} when '
                             f'it was attached, and is {tuple(tensor.shape)} '
                             'now')
        return tensor.to_local() if _is_dtensor(tensor) else tensor

    @staticmethod
    def _flat(tensor):
        """The values in order; a copy when they do not lie that way."""
        return tensor.contiguous().view(-1)


class BufferEntry(Entry):
    """One buffer whose values are averaged.

    It is the module's matter which tensor it has there, so that is looked up
    each time. Where ranks differ, rank 0 counts, as it does under
    DistributedDataParallel.
    """

    kind = 'buffer'
    _RULE = {'rule': 'RULE_AVERAGE'}

    def __init__(self, name, place, offset, rank, world):
        self._module, self._attribute = place
        super().__init__(name, self._tensor(), offset, rank, world)
        del self.parameter
        if (self.begin, self.end) == (0, self.size):
            self.part = (0, self.size if rank == 0 else 0)

    def is_among(self, parameters, buffers):
        del parameters
        return buffers.get(self.name) == (self._module, self._attribute)

    def _tensor(self):
        return self._module._buffers[self._attribute]


class Table:
    """The flat state of the models of one rank.

    models: a module, or {key: module}.
    average: whether floating buffers that are saved belong to it.
    """

    def __init__(self, models, rank, world, average=True):
        self._models = models
        reshard(models)
        self.entries, self._frozen = [], {}
        # The first element that is averaged; 0 when none is.
        self.average_begin = 0
        # {name: why} of the floating buffers that are saved and stay here.
        self.kept = {}
        by_identity = {}
        offset = 0
        for name, parameter in names.named_parameters(models).items():
            first = by_identity.get(id(parameter))
            if first is not None:
                first.tied.append(name)
            elif not parameter.requires_grad:
                self._frozen[name] = parameter
            elif parameter.numel():
                entry = Entry(name, parameter, offset, rank, world)
                by_identity[id(parameter)] = entry
                self.entries.append(entry)
                offset += entry.size
        if not offset:
            raise ValueError('no parameter of the model requires a gradient')
        self.elements = offset
        self._add_buffers(average, rank, world)
        self._offsets = [entry.offset for entry in self.entries]
        self._memory = self._pinned = None
        self._layout_hash = None
        self._loaded_pinned = self._keep_loaded()

    def _keep_loaded(self):
        rounded = [entry for entry in self.entries if entry.rounds]
        memory = copies.host_memory(
            sum(entry.end - entry.begin for entry in rounded))
        at = 0
        for entry in rounded:
            size = entry.end - entry.begin
            entry.keep_loaded(memory[at:at + size])
            at += size
        return self._pin(memory)

    def _pin(self, memory):
        """Pins memory that a CUDA device copies from and to; None when none
        does."""
        device = next((entry.device for entry in self.entries
                       if entry.device.type == 'cuda'), None)
        if device is None or not len(memory):
            return None
        return copies.Pinned(memory, device)

    def _add_buffers(self, average, rank, world):
        by_identity = {}
        for name, place in names.saved_buffers(self._models).items():
            buffer = place[0]._buffers[place[1]]
            first = by_identity.get(id(buffer))
            if first is not None:
                first.tied.append(name)
                continue
            why = '' if average else 'buffers="local"'
            why = why or _why_not_averaged(buffer)
            if why:
                self.kept[name] = why
            elif buffer.numel():
                if not self.average_begin:
                    self.average_begin = self.elements = (
                        -(-self.elements // _AVERAGE_ALIGNMENT)
                        * _AVERAGE_ALIGNMENT)
                entry = BufferEntry(name, place, self.elements, rank, world)
                by_identity[id(buffer)] = entry
                self.entries.append(entry)
                self.elements += entry.size

    def layout_hash(self):
        """A hash over names, shapes and values of what is not trained; 0 when
        everything is."""
        if self._layout_hash is None:
            self._layout_hash = _hash_of(self._frozen)
        return self._layout_hash

    def check_unchanged(self):
        """Raises ValueError when the models have other parameters or buffers
        than at attach, as after fully_shard."""
        reshard(self._models)
        parameters = names.named_parameters(self._models)
        buffers = names.saved_buffers(self._models)
        for entry in self.entries:
            if not entry.is_among(parameters, buffers):
                raise ValueError(f'{entry.kind} {entry.name} was replaced '
                                 'after skerry.attach: attach when models and '
                                 'optimizers are complete')

    def map_memory(self, path):
        """Uses the memory at `path` from now on. Raises Refused."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                size = os.fstat(descriptor).st_size
                mapped = mmap.mmap(descriptor, size)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            raise Refused('INVALID_ARGUMENT',
                          f'sharedMemory: {path}: {error}') from error
        wanted = self.elements * _FP32_BYTES
        if size < wanted:
            raise Refused('INVALID_ARGUMENT',
                          f'sharedMemory: {path} has {size} bytes, and the '
                          f'state needs {wanted}')
        self._memory = torch.frombuffer(mapped, dtype=torch.float32,
                                        count=self.elements)
        self._pinned = self._pin(self._memory)

    @property
    def mapped(self):
        """Whether there is a memory."""
        return self._memory is not None

    @torch.no_grad()
    def snapshot(self, ranges):
        """Copies this rank's part of the elements of `ranges` to the memory."""
        self._copy(ranges, lambda entry: entry.part, Entry.copy_out)

    @torch.no_grad()
    def load(self, ranges):
        """Copies the elements of `ranges` that this rank holds to the
        models."""
        reshard(self._models)
        self._copy(ranges, lambda entry: (entry.begin, entry.end),
                   Entry.copy_in)

    def _copy(self, ranges, held, copy):
        lanes = copies.Lanes()
        for entry, first, last in self._pieces(ranges, held):
            for low, high in entry.pieces(first, last):
                begin = entry.offset + low
                with lanes.next(entry.device):
                    copy(entry, low, high,
                         self._memory[begin:begin + high - low])
        lanes.finish()

    def _pieces(self, ranges, held):
        """[(entry, low, high)] of the elements in `ranges` that `held` gives a
        rank of each entry."""
        found = []
        for begin, end in ranges:
            if end > self.elements:
                raise Refused('INVALID_ARGUMENT',
                              f'ranges: [{begin}, {end}) is outside of the '
                              f'{self.elements} elements')
        if self._memory is None:
            raise Refused('FAILED_PRECONDITION', 'there is no memory yet')
        for begin, end in ranges:
            first = bisect.bisect_right(self._offsets, begin) - 1
            for entry in self.entries[first:]:
                if entry.offset >= end:
                    break
                low, high = held(entry)
                low = max(low, begin - entry.offset)
                high = min(high, end - entry.offset)
                if low < high:
                    found.append((entry, low, high))
        return found


def _why_not_averaged(buffer):
    """Why a floating buffer cannot be averaged; empty when it can."""
    if buffer.dtype not in _DTYPES:
        return f'{buffer.dtype}'
    local = buffer.to_local() if _is_dtensor(buffer) else buffer
    # Such as a mask of -inf, which is constant.
    return '' if local.isfinite().all() else 'it has values that are not finite'


def _hash_of(frozen):
    if not frozen:
        return 0
    digest = hashlib.blake2b(digest_size=8)
    with torch.no_grad():
        for name, tensor in frozen.items():
            tensor = tensor.detach()
            if _is_dtensor(tensor):
                # All ranks come here together.
                tensor = tensor.full_tensor()
            digest.update(f'{name} {tuple(tensor.shape)} {tensor.dtype}\n'
                          .encode())
            flat = tensor.contiguous().view(-1)
            for piece in flat.split(_PIECE):
                held = piece.cpu()
                digest.update(
                    (ctypes.c_char * (held.numel() * held.element_size()))
                    .from_address(held.data_ptr()))
    return int.from_bytes(digest.digest(), 'little')
