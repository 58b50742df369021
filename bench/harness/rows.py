"""Rows of results: how they are read, judged and shown."""

import collections
import json
import re
import statistics

FIELDS = ('name', 'value', 'unit', 'against', 'against_value', 'ratio', 'bar',
          'meets', 'load')

Bar = collections.namedtuple('Bar', 'bench pattern bar')


def meets(ratio, bar):
    """Whether `ratio` reaches `bar`: '>=X', '<=X' or 'LOW..HIGH'."""
    if bar.startswith('>='):
        return ratio >= float(bar[2:])
    if bar.startswith('<='):
        return ratio <= float(bar[2:])
    low, high = bar.split('..')
    return float(low) <= ratio <= float(high)


def parse_bars(text):
    bars = []
    for line in text.splitlines():
        words = line.split()
        if words and not line.startswith('#'):
            bar = Bar(words[0], re.compile(words[1]), words[2])
            meets(1.0, bar.bar)  # a bar that cannot be read fails here
            bars.append(bar)
    return bars


def judge(row, bench, bars):
    """`row` with ratio, bar and meets, in the order of FIELDS."""
    row = {field: row.get(field) for field in FIELDS}
    if row['against_value'] in (None, 0):
        return row
    row['ratio'] = row['value'] / row['against_value']
    row['bar'] = next(
        (bar.bar for bar in bars
         if bar.bench == bench and bar.pattern.fullmatch(row['name'])),
        row['bar'])
    if row['bar']:
        row['meets'] = meets(row['ratio'], row['bar'])
    return row


def impossible(row):
    """Whether the ratio is above a bar's upper end: then the bench is wrong."""
    if not row['bar'] or '..' not in row['bar'] or row['ratio'] is None:
        return False
    return row['ratio'] > float(row['bar'].split('..')[1])


def _measure(runs):
    """(median, unit) over the repetitions of one benchmark."""
    for counter, unit in (('bytes_per_second', 'B/s'),
                          ('items_per_second', 'items/s')):
        if counter in runs[0]:
            return statistics.median(run[counter] for run in runs), unit
    return (statistics.median(run['real_time'] for run in runs),
            runs[0]['time_unit'])


def of_google(text):
    """(rows, errors) of google-benchmark's JSON."""
    runs = collections.OrderedDict()
    errors = []
    for run in json.loads(text)['benchmarks']:
        if run.get('error_occurred'):
            errors.append(f'{run["name"]}: {run.get("error_message")}')
        elif run['run_type'] == 'iteration':
            runs.setdefault(run['run_name'], []).append(run)
    floors = {}  # name it is compared with -> (whom, run name)
    for name in runs:
        match = re.fullmatch(r'(.+?)_against_([^/]+)(/.*)?', name)
        if match:
            what = match.group(1) + (match.group(3) or '')
            floors[what] = (match.group(2), name)
    rows = []
    for name, repetitions in runs.items():
        if '_against_' in name and name in {f for _, f in floors.values()}:
            continue
        value, unit = _measure(repetitions)
        row = {'name': name, 'value': value, 'unit': unit}
        if name in floors:
            whom, floor = floors[name]
            against_value, against_unit = _measure(runs[floor])
            if against_unit != unit:
                errors.append(f'{name}: {unit} compared with {against_unit}')
                continue
            row.update(against=whom, against_value=against_value)
        rows.append(row)
    for what, (_, floor) in floors.items():
        if what not in runs:
            errors.append(f'{floor}: there is no {what} to compare')
    return rows, errors


def of_lines(text):
    """(rows, errors) of one JSON object a line."""
    rows, errors = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            row = {}
        if not isinstance(row.get('value'), (int, float)) or not (
                row.get('name') and row.get('unit')):
            errors.append(f'row {number}: needs name, value and unit: {line}')
        else:
            rows.append(row)
    return rows, errors


def _human(value, unit):
    if unit in ('B/s', 'items/s', 'B'):
        for factor, prefix in ((1e9, 'G'), (1e6, 'M'), (1e3, 'k')):
            if abs(value) >= factor:
                return f'{value / factor:.3g} {prefix}{unit}'
    return f'{value:.4g} {unit}'


def table(rows):
    """The rows as aligned text, with a last line that counts the bars."""
    lines = [('name', 'value', 'against', 'ratio', 'bar', '')]
    for row in rows:
        compared = row['ratio'] is not None
        lines.append((
            row['name'], _human(row['value'], row['unit']),
            f'{row["against"]} {_human(row["against_value"], row["unit"])}'
            if compared else '',
            f'{row["ratio"]:.3f}' if compared else '', row['bar'] or '',
            {True: 'met', False: 'MISSED', None: ''}[row['meets']]))
    widths = [max(len(line[i]) for line in lines) for i in range(6)]
    text = '\n'.join('  '.join(cell.ljust(width) for cell, width in
                               zip(line, widths)).rstrip() for line in lines)
    judged = [row['meets'] for row in rows if row['meets'] is not None]
    if judged:
        text += f'\n{sum(judged)} of {len(judged)} bars met'
    return text
