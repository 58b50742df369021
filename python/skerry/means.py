"""The means of what a loop logs. Nothing is read from a device before a Run
ends."""

import torch


class Means:
    """Adds up values, weighted by samples."""

    def __init__(self):
        self._sums = {}

    def add(self, name, value, samples):
        """`value` is a number, or a tensor of one element."""
        if isinstance(value, torch.Tensor):
            if value.numel() != 1:
                raise ValueError(f'run.log({name}=...): a tensor of shape '
                                 f'{tuple(value.shape)} is no single value')
            value = value.detach().reshape(()).to(
                # Apple's devices have no float64.
                torch.float32 if value.device.type == 'mps'
                else torch.float64)
        total, weight = self._sums.get(name, (0.0, 0))
        self._sums[name] = total + value * samples, weight + samples

    def read(self):
        """{name: mean}. It waits for the device."""
        return {name: float(total) / weight
                for name, (total, weight) in self._sums.items() if weight}
