"""A network of its own for a process and its children: loopback alone.

Every port is free there, and nothing beyond this machine can be reached.
"""

import ctypes
import fcntl
import os
import socket
import struct

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8913, 0x8914
_IFF_UP = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def enter():
    """Moves this process, which must have one thread, into such a network.

    Raises OSError where the kernel does not let this user do so.
    """
    uid, gid = os.getuid(), os.getgid()
    flags = _CLONE_NEWNET | (_CLONE_NEWUSER if uid else 0)
    if _LIBC.unshare(flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    if uid:
        _write('/proc/self/setgroups', 'deny')
        _write('/proc/self/uid_map', f'{uid} {uid} 1')
        _write('/proc/self/gid_map', f'{gid} {gid} 1')
    _bring_up('lo')


def available():
    """Whether enter() works for children of this process."""
    child = os.fork()
    if child == 0:
        try:
            enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def _bring_up(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack('16sH14x', interface.encode(), 0)
        request = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request)
        flags = struct.unpack('16sH14x', request)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack(
            '16sH14x', interface.encode(), flags | _IFF_UP))
