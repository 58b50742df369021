"""What the API server asks an imitated node for: the logs of a container, a
program in it, and ports of its pod.

Streams are those of a kubelet of Kubernetes 1.20: SPDY, with version 4 of the
protocol of programs. A client that asks for WebSockets first is refused, and
then asks for SPDY.
"""

import http.server
import json
import os
import ssl
import subprocess
import threading
import urllib.parse

import spdy
from kubelet_pod import connect_in

_PROGRAMS, _PORTS = 'v4.channel.k8s.io', 'portforward.k8s.io'
_READ_BYTES = 1 << 16
_CLOSED_AFTER_S = 10


class Server:
    """Answers for all nodes, at a free port of loopback."""

    def __init__(self, podman, space_of, directory):
        """`space_of(pod)` names the network of a pod, or is None."""
        os.makedirs(directory)
        key, certificate = (os.path.join(directory, name)
                            for name in ('key.pem', 'cert.pem'))
        subprocess.run(
            ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
             'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=node',
             '-days', '2', '-keyout', key, '-out', certificate],
            check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), _Handler)
        self._server.daemon_threads = True
        self._server.podman, self._server.space_of = podman, space_of
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True,
            do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever,
                         daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    rbufsize = 0  # what follows an upgrade is read by somebody else

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def do_GET(self):
        parts, query = self._asked()
        if parts[0] != 'containerLogs':
            self._answer(400, b'only SPDY is spoken here')
            return
        told = self.server.podman.call('logs', f'{parts[2]}_{parts[3]}',
                                       check=False)
        text = told.stdout + told.stderr
        if 'tailLines' in query:
            lines = text.splitlines(keepends=True)
            text = ''.join(lines[-int(query['tailLines'][0]):])
        self._answer(404 if told.returncode else 200, text.encode())

    def do_POST(self):
        parts, query = self._asked()
        if self.headers.get('Upgrade', '').lower() != 'spdy/3.1':
            self._answer(400, b'only SPDY is spoken here')
        elif parts[0] == 'portForward':
            _forward(self._upgraded(_PORTS), self.server.space_of(parts[2]))
        elif parts[0] == 'exec':
            _execute(self._upgraded(_PROGRAMS), self.server.podman,
                     f'{parts[2]}_{parts[3]}', query)
        else:
            self._answer(404, b'not here')

    def _asked(self):
        """Parts of the path (WHAT, namespace, pod, container); the query."""
        url = urllib.parse.urlsplit(self.path)
        return (url.path.strip('/').split('/') + [''] * 4,
                urllib.parse.parse_qs(url.query))

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _upgraded(self, protocol):
        """The connection, once both sides speak SPDY on it."""
        self.close_connection = True
        self.send_response(101)
        self.send_header('Connection', 'Upgrade')
        self.send_header('Upgrade', 'SPDY/3.1')
        self.send_header('X-Stream-Protocol-Version', protocol)
        self.end_headers()
        self.wfile.flush()
        return spdy.Connection(self.connection)


def _pump(read, connection, stream):
    """Sends all that `read(bytes)` gives, and then ends the stream."""
    while True:
        try:
            data = read(_READ_BYTES)
        except OSError:
            data = b''
        try:
            connection.send(stream, data, last=not data)
        except OSError:
            return
        if not data:
            return


def _forward(connection, space):
    """Streams to ports of a pod, until the client closes the connection."""
    sockets, errors = {}, {}
    for event, stream, what in connection.events():
        if event == 'open':
            connection.accept(stream)
            number, port = what['requestid'], int(what['port'])
            if what['streamtype'] == 'error':
                errors[number] = stream
                continue
            try:
                sockets[stream] = connect_in(space, port)
            except OSError as why:
                connection.send(errors[number], str(why).encode(), last=True)
                connection.send(stream, b'', last=True)
                continue
            connection.send(errors[number], b'', last=True)
            threading.Thread(
                target=_pump, args=(sockets[stream].recv, connection, stream),
                daemon=True).start()
        elif stream in sockets and event == 'data':
            try:
                sockets[stream].sendall(what)
            except OSError:
                pass  # the pod has closed it, and _pump says so
        elif stream in sockets and event == 'end':
            _end_writing(sockets[stream])
        elif stream in sockets:
            sockets.pop(stream).close()
    for left in sockets.values():
        left.close()
    connection.close()


def _end_writing(made):
    try:
        made.shutdown(1)
    except OSError:
        pass  # the pod has closed it


def _status(code):
    """What the stream of errors says of an exit code."""
    if code == 0:
        return {'metadata': {}, 'status': 'Success'}
    return {'metadata': {}, 'status': 'Failure', 'reason': 'NonZeroExitCode',
            'message': f'command terminated with non-zero exit code {code}',
            'details': {'causes': [{'reason': 'ExitCode',
                                    'message': str(code)}]}}


def _execute(connection, podman, container, query):
    """Runs a program in a container, with the streams that were asked for."""
    wanted = {'error'} | {name for name, asked in (
        ('stdin', 'input'), ('stdout', 'output'), ('stderr', 'error'))
        if asked in query}
    events, streams = connection.events(), {}
    while wanted - set(streams):
        event, stream, headers = next(events, ('closed', 0, None))
        if event == 'closed':
            return
        if event == 'open':
            connection.accept(stream)
            streams[headers['streamtype']] = stream
    options = ['--interactive'] if 'stdin' in streams else []
    process = subprocess.Popen(
        [*podman.command, 'exec', *options, container, *query['command']],
        stdin=subprocess.PIPE if options else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=podman.environment())
    pumps = [threading.Thread(
        target=_pump, args=(file.read1, connection, streams[name]),
        daemon=True) for name, file in (
            ('stdout', process.stdout), ('stderr', process.stderr))
             if name in streams]
    feed = threading.Thread(target=_feed, args=(events, streams, process),
                            daemon=True)
    feed.start()
    for pump in pumps:
        pump.start()
    for pump in pumps:
        pump.join()
    told = json.dumps(_status(process.wait())).encode()
    try:
        connection.send(streams['error'], told, last=True)
    except OSError:
        pass  # nobody waits for it
    # The client closes the connection when it has read all.
    feed.join(_CLOSED_AFTER_S)


def _feed(events, streams, process):
    """What the client sends is the program's standard input. The program ends
    when the client does."""
    for event, stream, data in events:
        if process.stdin is None or stream != streams.get('stdin'):
            continue
        try:
            if event == 'data':
                process.stdin.write(data)
                process.stdin.flush()
            else:
                process.stdin.close()
        except OSError:
            pass  # the program reads no more
    process.kill()
