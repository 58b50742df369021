"""What a cluster looks like: islands of workers and the links between them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Island:
    """`workers` with fast links among them.

    `rate_mbit_s` bounds what all other islands together send to this one;
    `rtt_ms` is the round-trip time that its link adds. Rate 0: no link is
    emulated. `flags` are those of its workers alone.
    """
    name: str
    workers: int = 1
    rate_mbit_s: int = 0
    rtt_ms: int = 0
    flags: tuple = ()
