"""Metadata services of three clouds, each of which plays a list of states.

Every look of a worker takes the next state; the last one stays.
"""

import collections
import email.utils
import http.server
import json
import sys
import threading
import time

_HUGE_BYTES = 1 << 20
_LONG_POLL_S = 60
# Longer than any worker waits for a reply that is due at once.
_SLOW_S = 20


class Reply:
    """What is sent, after `wait_s` seconds or when the server stops."""

    def __init__(self, code, body=b'', headers=(), wait_s=0.0):
        self.code, self.headers, self.wait_s = code, dict(headers), wait_s
        self.body = body.encode() if isinstance(body, str) else body


GARBAGE = Reply(200, b'<html>\0\xff</html>')
MISSING = Reply(404, 'no such thing')
BROKEN = Reply(500, 'try again')
HUGE = Reply(200, b'a' * _HUGE_BYTES)
SLOW = Reply(200, b'', wait_s=_SLOW_S)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self._answer()

    def do_PUT(self):
        self._answer()

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(self.server.service.now(), usegmt=True)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def _answer(self):
        service = self.server.service
        reply = service.answer(self.command, self.path, self.headers)
        if reply.wait_s:
            service.stopping.wait(reply.wait_s)
        try:
            self.send_response(reply.code)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header('Content-Length', str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            pass  # the worker has given up


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A worker resets a connection when it has read enough.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Service:
    """One metadata service, on a port of its own until stop()."""

    def __init__(self, *states, ahead_s=0.0):
        self.stopping = threading.Event()
        self._ahead_s = ahead_s
        self.changed = threading.Condition()
        self.states = collections.deque(states)
        self._server = _Server(('127.0.0.1', 0), _Handler)
        self._server.service = self
        self._thread = threading.Thread(target=self._server.serve_forever,
                                        daemon=True)
        self._thread.start()
        self.url = f'http://127.0.0.1:{self._server.server_port}'

    def now(self):
        """Seconds since 1970 by the service's clock."""
        return time.time() + self._ahead_s

    def play(self, *states):
        """From now on these."""
        with self.changed:
            self.states = collections.deque(states)
            self.changed.notify_all()

    def played(self):
        """Whether only the last state is left."""
        with self.changed:
            return len(self.states) == 1

    def take(self):
        """The state that is due."""
        with self.changed:
            return (self.states.popleft() if len(self.states) > 1
                    else self.states[0])

    def stop(self):
        self.stopping.set()
        self.play(MISSING)
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method, path, headers):
        raise NotImplementedError


class Aws(Service):
    """States: None, a notice, REFUSED (no token), EXPIRED (not that one)."""

    REFUSED = Reply(403, 'no tokens here')
    EXPIRED = Reply(401, 'not with this token')

    _token = 0

    def notice(self, action, in_s):
        at = time.gmtime(self.now() + in_s)
        return Reply(200, json.dumps({
            'action': action, 'time': time.strftime('%Y-%m-%dT%H:%M:%SZ', at)}))

    def answer(self, method, path, headers):
        if path == '/latest/api/token':
            if (method != 'PUT' or
                    not headers['X-aws-ec2-metadata-token-ttl-seconds']):
                return Reply(400)
            if self.states[0] is self.REFUSED:
                return self.take()
            self._token += 1
            return Reply(200, f'token{self._token}==')
        if path != '/latest/meta-data/spot/instance-action':
            return MISSING
        if headers['X-aws-ec2-metadata-token'] != f'token{self._token}==':
            return self.EXPIRED
        state = self.take()
        if state is self.EXPIRED:
            self._token += 1
        return MISSING if state is None else state


class Gcp(Service):
    """States: 'FALSE', 'TRUE', or a whole reply."""

    def answer(self, method, path, headers):
        path, _, query = path.partition('?')
        if (path != '/computeMetadata/v1/instance/preempted' or
                headers['Metadata-Flavor'] != 'Google'):
            return MISSING
        if query:
            self._wait_for_change(query)
        state = self.take()
        if isinstance(state, Reply):
            return state
        return Reply(200, state, {'Metadata-Flavor': 'Google',
                                  'ETag': _etag(state)})

    def _wait_for_change(self, query):
        with self.changed:
            self.changed.wait_for(
                lambda: len(self.states) > 1 or self.stopping.is_set() or
                f'last_etag={_etag(self.states[0])}' not in query.split('&'),
                _LONG_POLL_S)


def _etag(state):
    return f'e{state}' if isinstance(state, str) else ''


class Azure(Service):
    """States: a list of events, NAMELESS, or a whole reply."""

    MACHINE = 'spot_3'
    NAMELESS = Reply(404, 'no such machine')

    def event(self, kind, in_s, machine=MACHINE):
        return {'EventId': f'{kind}-{machine}', 'EventType': kind,
                'ResourceType': 'VirtualMachine', 'Resources': [machine],
                'EventStatus': 'Scheduled', 'EventSource': 'Platform',
                'NotBefore': email.utils.formatdate(self.now() + in_s,
                                                    usegmt=True)}

    def answer(self, method, path, headers):
        if headers['Metadata'] != 'true':
            return Reply(400, 'no header Metadata')
        if path == ('/metadata/instance/compute/name'
                    '?api-version=2021-02-01&format=text'):
            if self.states[0] is self.NAMELESS:
                return self.take()
            return Reply(200, self.MACHINE)
        if path != '/metadata/scheduledevents?api-version=2020-07-01':
            return MISSING
        state = self.take()
        if isinstance(state, Reply):
            return state
        return Reply(200, json.dumps({'DocumentIncarnation': 1,
                                      'Events': state}))
