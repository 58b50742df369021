"""A job's events as they happen, over restarts of the coordinator."""

import json
import threading
import time

_AGAIN_S = 0.1


class EventStream:
    """Follows the events of one job in a thread of its own.

    `events` are (seconds of the monotonic clock when it happened, the event);
    one is there once, however often the stream breaks.
    """

    def __init__(self, ctl, job):
        self._ctl = ctl
        self._job = job
        self._news = threading.Condition()
        self._closed = False
        self._process = None
        self._seen = 0
        self.events = []
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self):
        with self._news:
            self._closed = True
            if self._process:
                self._process.kill()
        self._thread.join()

    def newest(self):
        """The revision of the newest event that has arrived."""
        with self._news:
            return self._seen

    def first(self, name, after, deadline, meanwhile):
        """The first event called `name` of a revision later than `after`.

        None at `deadline`, or once the job has ended without one. Calls
        `meanwhile` some times a second.
        """
        while True:
            with self._news:
                for when, event in self.events:
                    if (event['name'] == name
                            and int(event['revision']) > after):
                        return when, event
                if self.ended() or time.monotonic() >= deadline:
                    return None
                self._news.wait(0.02)
            meanwhile()

    def ended(self):
        return bool(self.events) and self.events[-1][1]['name'] == 'JobEnded'

    def _follow(self):
        while True:
            with self._news:
                if self._closed or self.ended():
                    return
                self._process = self._ctl.start('logs', self._job, '-f',
                                                '-o', 'json')
            for line in self._process.stdout:
                self._take(time.monotonic(), json.loads(line))
            self._process.wait()
            time.sleep(_AGAIN_S)

    def _take(self, now, event):
        with self._news:
            revision = int(event['revision'])
            if revision <= self._seen:
                return
            self._seen = revision
            self.events.append((now - int(event['age_ms']) / 1000, event))
            self._news.notify_all()
