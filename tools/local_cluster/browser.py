"""A headless Chromium, driven over the DevTools protocol.

Standard library alone: a small WebSocket client (RFC 6455) without extensions.
"""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import time
import urllib.request

_PROGRAM = 'chromium'
_WAIT_S = 20
_FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu',
          '--disable-dev-shm-usage', '--no-first-run',
          '--disable-background-networking', '--disable-component-update',
          '--disable-sync', '--disable-extensions', '--mute-audio',
          '--hide-scrollbars', '--remote-debugging-port=0']


def installed():
    """Whether there is a browser to drive."""
    return shutil.which(_PROGRAM) is not None


class Browser:
    """One browser process. Use it in a `with` statement."""

    def __init__(self, directory):
        self._profile = os.path.join(directory, 'browser')
        self._log = open(os.path.join(directory, 'browser.log'), 'wb')
        self._process = None

    def __enter__(self):
        shutil.rmtree(self._profile, ignore_errors=True)
        self._process = subprocess.Popen(
            [_PROGRAM, *_FLAGS, f'--user-data-dir={self._profile}',
             'about:blank'],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._log.close()

    def _port(self):
        path = os.path.join(self._profile, 'DevToolsActivePort')
        deadline = time.monotonic() + _WAIT_S
        while time.monotonic() < deadline:
            try:
                with open(path, encoding='ascii') as file:
                    return int(file.readline())
            except (OSError, ValueError):
                time.sleep(0.05)
        raise RuntimeError(f'{_PROGRAM} has not started; see browser.log')

    def tab(self, width=1280, height=900, dark=False):
        """A new tab that has loaded nothing yet."""
        request = urllib.request.Request(
            f'http://127.0.0.1:{self._port()}/json/new?about:blank',
            method='PUT')
        with urllib.request.urlopen(request, timeout=_WAIT_S) as answer:
            target = json.load(answer)
        tab = Tab(target['webSocketDebuggerUrl'])
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            tab.call(f'{domain}.enable')
        tab.call('Emulation.setDeviceMetricsOverride', width=width,
                 height=height, deviceScaleFactor=1, mobile=False)
        tab.scheme('dark' if dark else 'light')
        return tab


class Tab:
    """A page in the browser, and everything that it has said so far."""

    def __init__(self, url):
        self._socket = _WebSocket(url)
        self._calls = 0
        self.complaints = []  # of the console, exceptions, failed loads
        self.requested = []   # URLs

    def call(self, method, **parameters):
        """One command of the protocol; its result."""
        self._calls += 1
        self._socket.send(json.dumps({
            'id': self._calls, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self._socket.receive())
            if message.get('id') == self._calls:
                if 'error' in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message['result']
            self._hear(message)

    def _hear(self, message):
        what, said = message.get('method'), message.get('params', {})
        if what == 'Network.requestWillBeSent':
            self.requested.append(said['request']['url'])
        elif what == 'Runtime.exceptionThrown':
            details = said['exceptionDetails']
            self.complaints.append(
                details.get('exception', {}).get('description')
                or details['text'])
        elif what == 'Runtime.consoleAPICalled':
            if said['type'] in ('error', 'warning', 'assert'):
                self.complaints.append(str(said['args']))
        elif what == 'Log.entryAdded':
            if said['entry']['level'] in ('error', 'warning'):
                self.complaints.append(said['entry']['text'])

    def run(self, script):
        """The value of a JavaScript expression; a promise is awaited."""
        result = self.call('Runtime.evaluate', expression=script,
                           awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result['result'].get('value')

    def open(self, url):
        self.call('Page.navigate', url=url)

    def until(self, script, wait_s=_WAIT_S):
        """Waits until the expression is true; whether it became so."""
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            if self.run(f'Boolean({script})'):
                return True
            time.sleep(0.05)
        return False

    def scheme(self, name):
        """Makes the page see that its reader prefers `light` or `dark`."""
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': name}])

    def key(self, name):
        """Presses and releases one of these keys, as a keyboard does."""
        virtual = {'Tab': 9, 'Enter': 13, 'ArrowLeft': 37, 'End': 35}[name]
        event = {'key': name, 'code': name, 'windowsVirtualKeyCode': virtual}
        if name == 'Enter':
            event['text'] = '\r'
        self.call('Input.dispatchKeyEvent', type='keyDown', **event)
        self.call('Input.dispatchKeyEvent', type='keyUp', **event)

    def picture(self, path, whole=False):
        """Writes a PNG of what is seen, or of the whole document."""
        result = self.call('Page.captureScreenshot', format='png',
                           captureBeyondViewport=whole)
        with open(path, 'wb') as file:
            file.write(base64.b64decode(result['data']))


class _WebSocket:
    """A client's end of a WebSocket, for text alone."""

    def __init__(self, url):
        address, _, path = url.removeprefix('ws://').partition('/')
        host, _, port = address.partition(':')
        self._socket = socket.create_connection((host, int(port)), _WAIT_S)
        self._socket.sendall(
            (f'GET /{path} HTTP/1.1\r\nHost: {address}\r\n'
             'Upgrade: websocket\r\nConnection: Upgrade\r\n'
             'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: '
             f'{base64.b64encode(os.urandom(16)).decode()}\r\n\r\n').encode())
        self._stream = self._socket.makefile('rb')
        status = self._stream.readline()
        if b' 101 ' not in status:
            raise RuntimeError(f'no WebSocket: {status!r}')
        while self._stream.readline() not in (b'\r\n', b''):
            pass

    def send(self, text):
        self._frame(1, text.encode())

    def _frame(self, opcode, payload):
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack('>H', size)
        else:
            head += bytes([0x80 | 127]) + struct.pack('>Q', size)
        # A mask of zeros changes nothing, and is one.
        self._socket.sendall(head + bytes(4) + payload)

    def receive(self):
        """The next message."""
        text = b''
        while True:
            first, second = self._exactly(2)
            size = second & 0x7f
            if size == 126:
                size, = struct.unpack('>H', self._exactly(2))
            elif size == 127:
                size, = struct.unpack('>Q', self._exactly(8))
            payload = self._exactly(size)
            opcode = first & 0x0f
            if opcode == 8:
                raise RuntimeError('the browser has closed the tab')
            if opcode == 9:
                self._frame(10, payload)
            if opcode in (0, 1):
                text += payload
                if first & 0x80:
                    return text.decode()

    def _exactly(self, size):
        data = self._stream.read(size)
        if len(data) != size:
            raise RuntimeError('the browser is gone')
        return data
