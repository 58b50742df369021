"""What a cluster looks like: islands of workers and the links between them."""

import dataclasses
import enum


class Reached(enum.Enum):
    """How the workers of other sites reach those of an island that is one."""
    DIALLED = 'at its own address'
    FORWARDED = 'behind a NAT that forwards its port'
    REVERSE = 'behind a NAT that forwards nothing'


@dataclasses.dataclass(frozen=True)
class Island:
    """`workers` with fast links among them.

    `rate_mbit_s` bounds what all other islands together send to this one;
    `rtt_ms` is the round-trip time that its link adds. Rate 0: no link is
    emulated. `flags` are those of its workers alone. `reached` counts where
    every island is a site of its own (apart.py).
    """
    name: str
    workers: int = 1
    rate_mbit_s: int = 0
    rtt_ms: int = 0
    flags: tuple = ()
    reached: Reached = Reached.DIALLED
