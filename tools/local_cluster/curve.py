"""Loss curves for a terminal and for a file."""

from xml.sax.saxutils import escape

_TRAINING, _VALIDATION = '#4477aa', '#cc6677'


def _bounds(points):
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    low, high = min(ys), max(ys)
    return min(xs), max(max(xs), min(xs) + 1), low, max(high, low + 1e-9)


def terminal(points, width=64, height=12):
    """Lines of text: the mean of the points that fall into each column."""
    x0, x1, y0, y1 = _bounds(points)
    columns = [[] for _ in range(width)]
    for x, y in points:
        columns[min(width - 1, int((x - x0) / (x1 - x0) * width))].append(y)
    rows = [[' '] * width for _ in range(height)]
    for column, values in enumerate(columns):
        if values:
            y = sum(values) / len(values)
            row = round((y1 - y) / (y1 - y0) * (height - 1))
            rows[row][column] = '*'
    lines = []
    for index, row in enumerate(rows):
        y = y1 - (y1 - y0) * index / (height - 1)
        lines.append(f'{y:6.2f} |' + ''.join(row))
    lines.append('       +' + '-' * width)
    return lines


def svg(training, validation, marks, title,
        names=('training loss, nats a byte', 'validation loss'),
        x_name='committed rounds', dashes=''):
    """A picture of two curves of these names; `marks` are (x, text) of vertical
    lines, `dashes` those of the second curve."""
    width, height, left, top, right, bottom = 800, 420, 60, 40, 20, 40
    x0, x1, y0, y1 = _bounds(training + validation)

    def place(x, y):
        return (left + (x - x0) / (x1 - x0) * (width - left - right),
                top + (y1 - y) / (y1 - y0) * (height - top - bottom))

    def line(points, colour, dashes=''):
        path = ' '.join('%.1f,%.1f' % place(x, y) for x, y in points)
        dashed = f'stroke-dasharray="{dashes}" ' if dashes else ''
        return (f'<polyline fill="none" stroke="{colour}" stroke-width="2" '
                f'{dashed}points="{path}"/>')

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="22" font-size="15">{escape(title)}</text>']
    for tick in range(5):
        y = y0 + (y1 - y0) * tick / 4
        px, py = place(x0, y)
        parts.append(f'<line x1="{px:.1f}" y1="{py:.1f}" x2="{width - right}" '
                     f'y2="{py:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="8" y="{py + 4:.1f}">{y:.2f}</text>')
    for x, text in marks:
        px, _ = place(x, y0)
        parts.append(f'<line x1="{px:.1f}" y1="{top}" x2="{px:.1f}" '
                     f'y2="{height - bottom}" stroke="#999" '
                     f'stroke-dasharray="4 3"/>')
        parts.append(f'<text x="{px + 4:.1f}" y="{top + 12}" fill="#555">'
                     f'{escape(text)}</text>')
    parts.append(line(training, _TRAINING))
    if validation:
        parts.append(line(validation, _VALIDATION, dashes))
    parts.append(f'<text x="{left}" y="{height - 12}" fill="{_TRAINING}">'
                 f'{escape(names[0])}</text>')
    parts.append(f'<text x="{left + 220}" y="{height - 12}" '
                 f'fill="{_VALIDATION}">{escape(names[1])}</text>')
    parts.append(f'<text x="{width - right}" y="{height - 12}" '
                 f'text-anchor="end">{escape(x_name)}: {x1:.0f}</text>')
    parts.append('</svg>\n')
    return '\n'.join(parts)
