"""Which codecs the exchanges of an adaptive job were sent with, and why."""

import re
import textwrap

_OPENS = re.compile(r'^exchange (\d+) opens as attempt \d+: .*?'
                    r'; (?:codecs(?: change)?: )?'
                    r'((?:replica \d+ \(|[a-z0-9_/]+ for all: ).*)$')
_OF_ONE = re.compile(r'replica (\d+) \([^)]*\) '
                     r'([a-z0-9_/]+(?:, results [a-z0-9_/]+)?)')
_OF_ALL = re.compile(r'^([a-z0-9_/]+) for all: ')
_ALONE = 'there is nobody to send to'
_REFUSED = re.compile(r'; [a-z0-9_/]+ refused: [^;]*')


class Exchange:
    """One attempt that opened: its sequence, the codec of each replica, or that
    of all under None, and the planner's words for it. Where results have a
    codec of their own it reads 'sign1, results nf4'."""

    def __init__(self, sequence, codecs, why):
        self.sequence = sequence
        self.codecs = codecs
        self.why = why

    def same_codecs(self, other):
        """Whether no replica that is in both sends with another codec."""
        if None in self.codecs or None in other.codecs:
            return set(self.codecs.values()) == set(other.codecs.values())
        return all(other.codecs.get(replica, codec) == codec
                   for replica, codec in self.codecs.items())


def opened(events):
    """[Exchange] of a job's events, in order; attempts begun again as well,
    but none of one member, which sends nothing."""
    found = []
    for event in events:
        if event['name'] != 'ExchangeOpened':
            continue
        opens = _OPENS.match(event['message'])
        if not opens:
            continue
        why = opens.group(2)
        if why.endswith(_ALONE):
            continue
        of_all = _OF_ALL.match(why)
        codecs = ({None: of_all.group(1)} if of_all
                  else dict(_OF_ONE.findall(why)))
        found.append(Exchange(int(opens.group(1)), codecs,
                              _REFUSED.sub('', why)))
    return found


def changes(exchanges):
    """The first of them, and each whose codecs are not those before it."""
    return [exchange for i, exchange in enumerate(exchanges)
            if i == 0 or not exchange.same_codecs(exchanges[i - 1])]


def chosen(exchanges):
    """The names of all codecs that were used."""
    return sorted({codec for exchange in exchanges
                   for pair in exchange.codecs.values()
                   for codec in pair.split(', results ')})


def follow(exchanges, begin, end):
    """Whether codecs changed in an exchange after `begin` and up to `end`."""
    return any(begin < exchange.sequence <= end
               for exchange in changes(exchanges)[1:])


def table(exchanges, marks):
    """Lines: when codecs changed and why, between the marks of a run."""
    # What happened at a sequence happened after its exchange.
    rows = [(exchange.sequence, 0, exchange.why)
            for exchange in changes(exchanges)]
    rows += [(sequence, 1, f'>>> {name}') for sequence, name in marks]
    lines = []
    # Stable: attempts of one exchange stay in their order.
    for sequence, _, text in sorted(rows, key=lambda row: row[:2]):
        lines += textwrap.wrap(text, 76, initial_indent=f'{sequence:>5}  ',
                               subsequent_indent=' ' * 7)
    return lines
