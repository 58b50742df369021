"""The links between islands: tests/netem/relay in front of each worker."""

import json
import os
import subprocess

from local_cluster.processes import die_with_parent


class Relay:
    """Listens for workers of other islands and forwards to the worker."""

    def __init__(self, binary, directory, seed=1):
        self._binary = binary
        self._directory = directory
        self._config = {'seed': seed, 'islands': [], 'links': []}
        self._process = None

    def add(self, island, name, listen_port, target_port):
        """The worker `name` at `target_port` is reached at `listen_port`.

        All workers of an island share its rate; half of the round trip is
        added each way.
        """
        islands = self._config['islands']
        if all(known['name'] != island.name for known in islands):
            islands.append({'name': island.name,
                            'up_mbit': island.rate_mbit_s,
                            'down_mbit': island.rate_mbit_s})
        self._config['links'].append({
            'name': name, 'listen': f'127.0.0.1:{listen_port}',
            'target': f'127.0.0.1:{target_port}', 'to': island.name,
            'out_delay_ms': island.rtt_ms / 2,
            'in_delay_ms': island.rtt_ms / 2})

    def start(self):
        if not self._config['links']:
            return
        path = os.path.join(self._directory, 'relay.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(self._config, file, indent=2)
        with open(os.path.join(self._directory, 'logs', 'relay.log'),
                  'ab') as log:
            self._process = subprocess.Popen(
                [self._binary, '--config', path], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True,
                preexec_fn=die_with_parent)
        if not self._process.stdout.readline():
            raise RuntimeError('the relay did not start; see relay.log')

    def stats(self):
        """{link: bytes forwarded by direction} as the relay counts them."""
        return self._command('stats')

    def set_rate(self, island, mbit_s):
        """From now on, the rate of what others send to the island."""
        answer = self._command(f'rate {island} both {mbit_s}')
        if 'error' in answer:
            raise RuntimeError(f"the relay: {answer['error']}")

    def _command(self, line):
        self._process.stdin.write(line + '\n')
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self):
        if self._process:
            self._process.kill()
            self._process.wait()
