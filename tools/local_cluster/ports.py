"""Ports for daemons that keep them over restarts."""

import socket

_given = set()


def free_port():
    """A port of this machine that is free now, and was not given before.

    The kernel names a port again as long as nobody listens on it, which the
    daemon that it is for does later.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            port = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port
