"""The tables of what was measured, in Markdown."""

import statistics

from bench.cluster.training import choice
from bench.cluster.training import methods
from bench.cluster.training import results

_HEAD = ('method', 'replicas', 'loss: median (lowest to highest)', 'seeds',
         'against synchronous', 'rate', 'setting', 'results late, in steps')


def _spread(values, digits=3):
    """median (lowest to highest); of one value only that."""
    values = list(values)
    if not values:
        return ''
    middle = f'{statistics.median(values):.{digits}f}'
    if len(values) == 1:
        return middle
    return f'{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})'


def _seeds(one):
    """How many seeds, and by how many of them the best was chosen."""
    by = len(one.by & set(one.losses))
    return f'{len(one.losses)}' + (
        '' if by == len(one.losses) else f', chosen by {by}')


def _rate(one):
    if len(one.rates) == 1:
        return f'{one.rate:g}, the only one'
    if choice.at_edge(one):
        return f'**{one.rate:g}**, at the edge'
    return f'{one.rate:g}'


def _line(group, one):
    if one.rate is None:
        return (group.method, str(group.replicas), 'no cell has a loss', '', '',
                '', '', '')
    waits = group.exchange is None
    return (group.method, str(group.replicas), _spread(one.losses.values()),
            _seeds(one), _spread(one.ratios.values()), _rate(one),
            one.setting,
            '' if waits or not one.late_steps else _spread(one.late_steps, 1))


def _title(optimizer, start, steps, exchange, tau):
    links = ('' if exchange is None else ', no link emulated' if not exchange
             else f', an exchange takes {exchange:g} of a round')
    begun = 'from scratch' if start == 'scratch' else 'from a checkpoint'
    rounds = '' if tau is None else f', tau {tau}'
    return f'{optimizer} {begun}, {steps} steps{rounds}{links}:'


def _in_order(group):
    return (methods.NAMES.index(group.method), group.replicas)


def _tables(found):
    """[(title, {Group: Best})]: what stands in one table. The synchronous run,
    and methods that wait for their exchange, stand in each that they belong
    to."""
    places = {}
    for group in found:
        if group.method == methods.SYNCHRONOUS:
            continue
        place = (group.optimizer, group.start, group.steps, group.tau)
        places.setdefault(place, set()).add(group.exchange)
    alone = {group[:3] for group in found} - {place[:3] for place in places}
    for place in alone:
        places[(*place, None)] = {None}
    made = []
    for place in sorted(places, key=str):
        for exchange in sorted(places[place] - {None}) or [None]:
            inside = {
                group: one for group, one in found.items()
                if group[:3] == place[:3] and group.tau in (None, place[3])
                and group.exchange in (None, exchange)}
            made.append((_title(*place[:3], exchange, place[3]), inside))
    return made


def _failures(found):
    """A line for each cell without a loss."""
    for group, one in found.items():
        for status, rate, setting, seed, reason in one.failed:
            yield (f'- {status}: {group.method}, {group.replicas} replicas, '
                   f'{group.optimizer}, rate {rate:g}, {setting}, seed {seed}'
                   + (f': {reason}' if reason else ''))


def _origins(records):
    """What the rows were made with and where, when that differs."""
    for name, what in (('programs', 'builds of the programs'),
                       ('machine', 'machines'),
                       ('trained_sha256', 'checkpoints to go on from')):
        found = {record[name] for record in records.values()
                 if record.get(name)}
        if len(found) > 1:
            yield f'- these cells were made with {len(found)} {what}'


def text(records):
    """All tables, then what has no loss, then where cells are from."""
    found = choice.best(records)
    parts = []
    for title, inside in _tables(found):
        lines = [_HEAD, ('---',) * len(_HEAD)]
        lines += [_line(group, inside[group])
                  for group in sorted(inside, key=_in_order)]
        parts.append('\n'.join([title, '', *(
            '| ' + ' | '.join(line) + ' |' for line in lines)]))
    notes = [*_failures(found), *_origins(records)]
    return '\n\n'.join(parts + (['\n'.join(notes)] if notes else []))


def rows(records):
    """Rows for tools/bench: the median of each group's best."""
    found = choice.best(records)
    made = []
    for group, one in sorted(found.items(), key=str):
        finite = [loss for loss in one.losses.values()
                  if loss != float('inf')]
        if not finite:
            continue
        name = [group.method, str(group.replicas), group.optimizer, group.start,
                f'steps_{group.steps}']
        name += [f'tau_{group.tau}'] if group.tau else []
        name += [f'exchange_{group.exchange:g}'] if group.exchange else []
        row = {'name': '/'.join(name), 'unit': 'nats/token',
               'value': statistics.median(finite)}
        if one.ratios:
            row.update(against='synchronous', against_value=row['value']
                       / statistics.median(one.ratios.values()))
        made.append(row)
    return made


def plan(cells, records, again=False):
    """What is still to be trained, and how long that should take."""
    todo = results.left(cells, records, again)
    lines = ['method                   setting       replicas  tau  optimizer '
             'rate   seed start   exchange  state']
    waiting = set(todo)
    for cell in cells:
        lines.append(
            f'{cell.method:24} {cell.setting:12} {cell.replicas:9} '
            f'{cell.tau:4}  {cell.optimizer:9} {cell.rate:<6g} {cell.seed:4} '
            f'{cell.start:7} {cell.exchange:9g}  '
            + ('to do' if cell in waiting else 'done'))
    times = [results.expected_s(cell, records) for cell in todo]
    known = [one for one in times if one is not None]
    lines.append(f'{len(cells) - len(todo)} of {len(cells)} cells are done')
    if todo and known:
        hours = sum(known) / len(known) * len(todo) / 3600
        lines.append(f'the rest should take {hours:.1f} hours, by cells that '
                     'are measured')
    elif todo:
        lines.append('no cell is measured yet that tells how long one takes')
    return '\n'.join(lines)
