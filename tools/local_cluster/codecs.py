"""Which codecs the exchanges of an adaptive job were sent with."""

import re

_OPENS = re.compile(r'^exchange (\d+) opens ')
_OF_ONE = re.compile(r'replica \d+ \([^)]*\) ([a-z0-9_/]+)')
_OF_ALL = re.compile(r'; ([a-z0-9_/]+) for all: ')


class Opened:
    """One exchange that opened: its sequence, its codecs, most used first, and
    whether it said that they change."""

    def __init__(self, sequence, codecs, changed):
        self.sequence = sequence
        self.codecs = sorted(set(codecs),
                             key=lambda codec: (-codecs.count(codec), codec))
        self.changed = changed

    def text(self):
        return ' and '.join(self.codecs)


def opened(events):
    """[Opened] of a job's events, in order; attempts begun again as well."""
    found = []
    for event in events:
        opens = _OPENS.match(event['message'])
        if event['name'] != 'ExchangeOpened' or not opens:
            continue
        codecs = (_OF_ONE.findall(event['message'])
                  or _OF_ALL.findall(event['message']))
        found.append(Opened(int(opens.group(1)), codecs,
                            '; codecs change: ' in event['message']))
    return found


def judge(exchanges, step):
    """(good, text): whether at least two codecs were chosen, and one change
    came after sequence `step`, when a link's rate stepped."""
    chosen = sorted({codec for e in exchanges for codec in e.codecs})
    after = [e for e in exchanges if e.changed and e.sequence > step]
    runs = [e for i, e in enumerate(exchanges)
            if i == 0 or e.codecs != exchanges[i - 1].codecs]
    text = ', '.join(f'{e.text()} from exchange {e.sequence}' for e in runs)
    return len(chosen) >= 2 and bool(after), text
