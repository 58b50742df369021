"""Files of named tensors in the safetensors format (docs/formats/safetensors.md
of Skerry), as several ranks write one together."""

import ctypes
import json
import mmap
import os
import struct

import torch

_DTYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16,
           'BF16': torch.bfloat16, 'I64': torch.int64, 'I32': torch.int32,
           'I16': torch.int16, 'I8': torch.int8, 'U8': torch.uint8,
           'BOOL': torch.bool}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_HEADER_BYTES_MAX = 16 << 20
# Copied from a device at once.
_PIECE = 4 << 20


def knows(dtype):
    """Whether a file can hold values of this type."""
    return dtype in _NAMES


class Plan:
    """Where each tensor of a new file lies.

    tensors: [(name, dtype, shape)], in the order of the file.
    metadata: {str: str}.
    Raises ValueError when the header is too long.
    """

    def __init__(self, tensors, metadata):
        header = {'__metadata__': metadata}
        at, begins = 0, []
        for name, dtype, shape in tensors:
            size = dtype.itemsize * _elements(shape)
            header[name] = {'dtype': _NAMES[dtype], 'shape': list(shape),
                            'data_offsets': [at, at + size]}
            begins.append(at)
            at += size
        text = json.dumps(header, separators=(',', ':')).encode()
        text += b' ' * (-len(text) % 8)
        if len(text) > _HEADER_BYTES_MAX:
            raise ValueError(f'a header of {len(text)} bytes; at most '
                             f'{_HEADER_BYTES_MAX} are allowed')
        self.header = struct.pack('<Q', len(text)) + text
        self._begins = begins
        self.bytes = len(self.header) + at

    def write(self, file, index, begin, values):
        """Writes `values`, a flat tensor, from element `begin` of tensor
        `index` on."""
        at = (len(self.header) + self._begins[index]
              + begin * values.element_size())
        for piece in values.split(_PIECE):
            held = piece.cpu().contiguous()
            size = held.numel() * held.element_size()
            write(file, at, (ctypes.c_char * size).from_address(
                held.data_ptr()))
            at += size


def write(file, at, data):
    """Writes all of `data` to the descriptor."""
    view = memoryview(data).cast('B')
    while view:
        wrote = os.pwrite(file, view, at)
        view, at = view[wrote:], at + wrote


def _elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class Reader:
    """A file of named tensors. Raises ValueError when it is none."""

    def __init__(self, path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            # Private, because a tensor over read-only memory is warned of.
            self._bytes = mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
        finally:
            os.close(descriptor)
        if len(self._bytes) < 8:
            raise ValueError('the file ends in its header')
        size, = struct.unpack_from('<Q', self._bytes)
        self._begin = 8 + size
        if size > _HEADER_BYTES_MAX or self._begin > len(self._bytes):
            raise ValueError('the file ends in its header')
        header = json.loads(self._bytes[8:self._begin].decode())
        self.metadata = header.pop('__metadata__', {})
        self._tensors = header
        for name, one in header.items():
            begin, end = one['data_offsets']
            if (one['dtype'] not in _DTYPES or begin < 0
                    or end > len(self._bytes) - self._begin
                    or end - begin != (_DTYPES[one['dtype']].itemsize
                                       * _elements(one['shape']))):
                raise ValueError(f'the tensor {name} does not fit its place')

    def names(self):
        return self._tensors.keys()

    def shape(self, name):
        return tuple(self._tensors[name]['shape'])

    def values(self, name, begin=0, end=None):
        """The elements [begin, end) of a tensor, flat, in its own type."""
        one = self._tensors[name]
        dtype = _DTYPES[one['dtype']]
        if end is None:
            end = _elements(one['shape'])
        if end == begin:
            return torch.empty(0, dtype=dtype)
        at = self._begin + one['data_offsets'][0] + begin * dtype.itemsize
        raw = torch.frombuffer(self._bytes, dtype=torch.uint8, offset=at,
                               count=(end - begin) * dtype.itemsize)
        return raw.clone().view(dtype)
