"""Watches a job, lets faults happen at their moments, restarts what died."""

import time

_POLL_S = 0.25
_LINE_EVERY_S = 2.0

_ENDED = ('JOB_PHASE_SUCCEEDED', 'JOB_PHASE_FAILED', 'JOB_PHASE_CANCELLED')


class StuckError(Exception):
    """The job does not go on."""


class Progress:
    """Follows one job of a LocalCluster to its end."""

    def __init__(self, cluster, job, rounds, out, stuck_after_s=120):
        self._cluster = cluster
        self._job = job
        self._rounds = rounds
        self._out = out
        self._stuck_after_s = stuck_after_s
        self._faults = []
        # (sequence, when it was seen): of the first commit and of the newest.
        self._first = None
        self._last = None
        self._sent_bytes = 0
        self.marks = []  # (sequence, text)
        self.lines = out is not None

    def at(self, share, name, act):
        """Calls `act` when `share` of the rounds are committed."""
        self._faults.append((share, name, act))

    def round_s(self):
        """What a round has taken since the first commit, in the mean."""
        (first, began), (last, ended) = self._first, self._last
        return (ended - began) / max(last - first, 1)

    def wait(self):
        """The job's last view."""
        started = time.monotonic()
        printed = moved = started
        sequence = -1
        while True:
            for name in self._cluster.supervise():
                self._say(started, f'{name} is started again')
            view = self._cluster.ctl.job(self._job)
            now = time.monotonic()
            if view is not None:
                if int(view['sequence']) != sequence:
                    sequence, moved = int(view['sequence']), now
                    self._saw(sequence, now)
                self._faults_due(started, view)
                ended = view['phase'] in _ENDED
                if ended or now - printed >= _LINE_EVERY_S:
                    printed = now
                    self._say(started, self._line(view))
                if ended:
                    return view
            if now - moved > self._stuck_after_s:
                raise StuckError(f'no commit for {self._stuck_after_s} s; '
                                 f'logs are in {self._cluster.directory}/logs')
            time.sleep(_POLL_S)

    def _saw(self, sequence, now):
        # Trainers start before the first commit, which takes longer than a
        # round of a small job.
        if sequence > 0:
            self._last = (sequence, now)
            self._first = self._first or self._last

    def _faults_due(self, started, view):
        done = int(view['samples_committed']) / int(view['samples_total'])
        while self._faults and done >= self._faults[0][0]:
            _, name, act = self._faults.pop(0)
            self.marks.append((int(view['sequence']), name))
            self._say(started, f'>>> {name}')
            act()

    def _line(self, view):
        losses = view['losses']
        loss = f"{losses[-1]['training_loss']:.3f}" if losses else '-'
        counters = view['counters']
        done = int(view['samples_committed']) / int(view['samples_total'])
        # A coordinator that has just started has heard nobody's counters.
        self._sent_bytes = max(self._sent_bytes,
                               int(counters['bulk_sent_bytes']))
        speed = counters['tokens_per_s']
        return (f"round {view['sequence']:>4}  {done:4.0%}  loss {loss}  "
                f"{f'{speed:.0f}' if speed else '-':>7} tokens/s  "
                f"sent {self._sent_bytes / 1e6:6.1f} MB  "
                f"islands {sum(1 for r in view['replicas'] if int(r['life']))}")

    def _say(self, started, text):
        if self._out is not None:
            print(f'[{time.monotonic() - started:6.1f} s] {text}',
                  file=self._out, flush=True)
