"""Copies between tensors and memory of the host, as fast as a bus takes them.

A CUDA device reads and writes pinned memory by itself. Then a copy is only
queued, and copies in both directions can run at a time.
"""

import contextlib
import mmap
import sys
import weakref

import torch

# 16-bit values that are converted at once. On a processor more would not stay
# in the caches. On a device fewer would take longer to queue than to copy.
_HOST_PIECE = 128 << 10
_DEVICE_PIECE = 4 << 20
_FP32_BYTES = 4
# cudaHostRegisterPortable: every device of the process may use the memory.
_PORTABLE = 1
_LANES = 2


def host_memory(count):
    """fp32 values that lie at the begin of a page, and that a fork leaves
    where they are."""
    return torch.frombuffer(mmap.mmap(-1, max(1, count) * _FP32_BYTES),
                            dtype=torch.float32, count=max(1, count))[:count]


class Pinned:
    """Memory of the host that CUDA devices copy from and to by themselves, as
    long as this object lives.

    A device that refuses it copies all the same, through buffers of its driver,
    and standard error says so.

    memory: a tensor on the host. device: one of those that will copy.
    """

    def __init__(self, memory, device):
        # It has to stay mapped until it is unpinned.
        self._memory = memory
        size = memory.numel() * memory.element_size()
        self.refused = _call(device, 'cudaHostRegister', memory.data_ptr(),
                             size, _PORTABLE)
        if self.refused:
            print(f'skerry: {size} bytes of memory cannot be pinned: '
                  f'{self.refused}; copies to and from the device take longer.',
                  file=sys.stderr)
            return
        # The end of the process ends it as well.
        weakref.finalize(self, _call, device, 'cudaHostUnregister',
                         memory.data_ptr()).atexit = False


def _call(device, name, *arguments):
    """Calls a function of CUDA's. Returns why it failed; empty when it did
    not."""
    with torch.cuda.device(device):
        call = getattr(torch.cuda.cudart(), name, None)
        if call is None:
            return 'this PyTorch does not offer it'
        code = call(*arguments)
        if int(code) == 0:
            return ''
        # CUDA tells an error once more to who asks next. That is done here, so
        # that it does not meet the loop.
        with contextlib.suppress(RuntimeError):
            torch.zeros(1, device=device)
    return f'{name} says {torch.cuda.CudaError(code)}'


class Lanes:
    """The streams on which one snapshot or one load is copied.

    Copies of one device alternate between two streams, so that one lane's copy
    to the host runs beside the other's from it. What was queued before on a
    device's current stream is waited for.
    """

    def __init__(self):
        self._of = {}
        self._turn = 0

    def next(self, device):
        """A context in which copies of `device` are queued."""
        if device.type != 'cuda':
            return contextlib.nullcontext()
        if device not in self._of:
            current = torch.cuda.current_stream(device)
            self._of[device] = [torch.cuda.Stream(device)
                                for _ in range(_LANES)]
            for lane in self._of[device]:
                lane.wait_stream(current)
        self._turn += 1
        return torch.cuda.stream(self._of[device][self._turn % _LANES])

    def finish(self):
        """Waits for all that was queued."""
        for lanes in self._of.values():
            for lane in lanes:
                lane.synchronize()


def pieces(tensor, low, high):
    """[(low, high)] of the parts in which 16-bit values are converted."""
    size = _HOST_PIECE if tensor.is_cpu else _DEVICE_PIECE
    return [(at, min(at + size, high)) for at in range(low, high, size)]


def out(values, memory):
    """Queues the copy of `values`, flat fp32, to the host."""
    memory.copy_(values, non_blocking=values.is_cuda)


def into(memory, values):
    """Queues the copy of fp32 from the host to `values`, fp32."""
    values.copy_(memory, non_blocking=values.is_cuda)


def rounded_into(memory, values, loaded):
    """Queues the copy of fp32 from the host to `values`, rounded to their 16
    bits, and to `loaded`, which is fp32 on the host.

    A device copies back what it got, beside the next piece on its way there. A
    processor that kept the values instead held the load up.
    """
    kept = memory.to(values.device, non_blocking=values.is_cuda)
    values.copy_(kept)
    out(kept, loaded)


def moved_out(values, loaded, memory):
    """Queues `loaded` and how far 16-bit `values` moved from it, as fp32.

    loaded: the fp32 values on the host that were rounded to `values` once.
    """
    kept = loaded.to(values.device, non_blocking=values.is_cuda)
    live = values.float()
    live -= kept.to(values.dtype)
    if values.is_cpu:
        torch.add(kept, live, out=memory)
    else:
        out(live.add_(kept), memory)
