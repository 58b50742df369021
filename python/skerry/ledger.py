"""Says which samples a rank trains on, and in which order.

The coordinator hands out positions of the run. Position p belongs to epoch
p / S of a data set with S samples, and stands for the sample that a permutation
of that epoch says (data/sample_order.h, the same numbers). This module needs
neither torch nor NumPy, and is faster with NumPy.
"""

import bisect
import collections
import itertools

try:
    import numpy
except ImportError:
    numpy = None

_MASK = (1 << 64) - 1
_ROUNDS = 6
# Fewer positions are faster one by one.
_VECTOR_MIN = 16


def mix64(x):
    """The finalizer of SplitMix64, for an int or an array of uint64."""
    x = (x + 0x9e3779b97f4a7c15) & _MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & _MASK
    return x ^ (x >> 31)


def random_at(key, counter):
    """Number `counter` (an int or an array of uint64) of the stream `key`."""
    return mix64((mix64(key) + counter * 0xd1342543de82ef95) & _MASK)


class SampleOrder:
    """The sample at each position of a run.

    samples: samples in an epoch, 1 to 2^62.
    seed: the job's `data.seed`.
    """

    def __init__(self, samples, seed):
        if not 1 <= samples <= 1 << 62:
            raise ValueError(f'an epoch has 1 to 2^62 samples, not {samples}')
        self.samples = samples
        self._seed = seed & _MASK
        self._half_bits = max(1, ((samples - 1).bit_length() + 1) // 2)
        self._half_mask = (1 << self._half_bits) - 1

    def indices(self, begin, end):
        """The samples at the positions [begin, end), as a list of int."""
        found = []
        while begin < end:
            epoch, first = divmod(begin, self.samples)
            count = min(end - begin, self.samples - first)
            found += self._permuted(random_at(self._seed, epoch), first, count)
            begin += count
        return found

    def _permuted(self, key, first, count):
        if numpy is None or count < _VECTOR_MIN:
            return [self._walk(key, value)
                    for value in range(first, first + count)]
        values = numpy.arange(first, first + count, dtype=numpy.uint64)
        out = numpy.arange(count)
        found = numpy.empty(count, dtype=numpy.uint64)
        while out.size:
            values = self._encrypt(key, values)
            inside = values < self.samples
            found[out[inside]] = values[inside]
            out, values = out[~inside], values[~inside]
        return found.tolist()

    def _walk(self, key, value):
        while True:
            value = self._encrypt(key, value)
            if value < self.samples:
                return value

    def _encrypt(self, key, value):
        left = value >> self._half_bits
        right = value & self._half_mask
        for turn in range(_ROUNDS):
            drawn = random_at((key + turn) & _MASK, right)
            left, right = right, left ^ (drawn & self._half_mask)
        return (left << self._half_bits) | right


class Positions:
    """Ranges of positions, one after the other."""

    def __init__(self, ranges):
        self._ranges = list(ranges)
        # How many positions lie before the end of each range.
        self._ends = list(itertools.accumulate(
            end - begin for begin, end in self._ranges))

    def __len__(self):
        return self._ends[-1] if self._ends else 0

    def cut(self, begin, end):
        """The ranges of those that are number `begin` to `end` - 1, as a
        tuple."""
        found = []
        at = bisect.bisect_right(self._ends, begin)
        while begin < end:
            low, high = self._ranges[at]
            inside = high - (self._ends[at] - begin)
            count = min(end - begin, self._ends[at] - begin)
            found.append((max(low, inside), inside + count))
            begin += count
            at += 1
        return tuple(found)


Step = collections.namedtuple('Step', 'first samples micros')
Step.__doc__ = """One inner step of a rank.

first: the first position of the whole step.
samples: the number of samples in this rank's part.
micros: the part in micro-batches, each a tuple of ranges of positions.
"""


def steps(ranges, step_samples, micro_samples, rank, world,
          micro_batches=None):
    """Yields the Steps that the positions of `ranges` make.

    step_samples: positions of a step, of all ranks together; the last step may
        have fewer.
    micro_samples: the most positions of a rank's micro-batch; None: its part.
    micro_batches: how many micro-batches each step has, however short it is;
        None: as few as micro_samples allows.

    Part r of n positions begins at the whole part of n * r / N. All ranks have
    the same number of micro-batches in a step, because each may come with a
    collective. Raises ValueError, in all ranks alike, when a micro-batch of a
    rank would be empty.
    """
    positions = Positions(ranges)
    for at in range(0, len(positions), step_samples):
        count = min(step_samples, len(positions) - at)
        most = -(-count // world)
        micros = micro_batches or -(-most // (micro_samples or most))
        if count // world < micros:
            raise ValueError(f'a step of {count} samples leaves one of {world} '
                             f'ranks without any in {micros} micro-batches')
        begin = at + count * rank // world
        part = at + count * (rank + 1) // world - begin
        yield Step(positions.cut(at, at + 1)[0][0], part, [
            positions.cut(begin + part * n // micros,
                          begin + part * (n + 1) // micros)
            for n in range(micros)])


def size(micro):
    """The number of positions in a micro-batch."""
    return sum(end - begin for begin, end in micro)


class Feed:
    """Tells a loader what to fetch, without ever making it wait.

    A DataLoader asks for what it fetches next before it gives out the batch
    that is ready. When nothing is known yet, it gets an empty micro-batch, a
    bubble. What it fetched of positions that were then not in the next Run is
    thrown away. A loader gives batches out in the order in which it asked.
    """

    def __init__(self):
        self._wanted = collections.deque()
        self._ahead = iter(())
        # What was asked for and not given out: [micro, whether it is wanted].
        self._out = collections.deque()

    def begin(self, micros, ahead):
        """A Run begins. `micros` are its micro-batches; `ahead` yields those
        that probably come after them."""
        self._wanted = collections.deque(micros)
        for one in self._out:
            one[1] = bool(self._wanted) and one[0] == self._wanted[0]
            if one[1]:
                self._wanted.popleft()
        asked = {micro for micro, wanted in self._out if not wanted}
        self._ahead = (micro for micro in ahead if micro not in asked)

    def ask(self):
        """The micro-batch to fetch next; () is a bubble."""
        wanted = bool(self._wanted)
        micro = self._wanted.popleft() if wanted else next(self._ahead, ())
        self._out.append([micro, wanted])
        return micro

    def given(self):
        """(micro-batch, whether the Run wants it) of the batch that the loader
        has just given out."""
        return tuple(self._out.popleft())
