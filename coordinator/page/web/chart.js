// A line chart as SVG. With the pointer or the arrow keys a reader asks for the
// numbers of one point, and they are announced.

import {h} from './element.js';

const HEIGHT = 240;
const LEFT = 56;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

// By chart: how wide it is, and which x a reader points at.
const states = new Map();

function stateOf(id) {
  if (!states.has(id)) states.set(id, {width: 640, at: null});
  return states.get(id);
}

// Round numbers from low to high, about so many.
export function ticks(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); ++i) {
    found.push(i * step);
  }
  return found;
}

// Digits behind the point that tell neighbouring ticks apart.
function digitsOf(values) {
  if (values.length < 2) return 2;
  const step = Math.abs(values[1] - values[0]);
  return Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
}

function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// Enough points for the width: of those that fall on one pixel, the first, the
// lowest, the highest and the last.
function path(points, x, y) {
  let text = '';
  let column = null;
  const flush = () => {
    if (column === null) return;
    const kept = [column.first, column.low, column.high, column.last]
        .sort((a, b) => a[0] - b[0]);
    let before = null;
    for (const point of kept) {
      if (point === before) continue;
      before = point;
      text += `${text === '' ? 'M' : 'L'}${x(point[0]).toFixed(1)} ` +
          y(point[1]).toFixed(1);
    }
  };
  for (const point of points) {
    const pixel = Math.round(x(point[0]));
    if (column === null || column.pixel !== pixel) {
      flush();
      column = {pixel, first: point, low: point, high: point, last: point};
    }
    if (point[1] < column.low[1]) column.low = point;
    if (point[1] > column.high[1]) column.high = point;
    column.last = point;
  }
  flush();
  return text;
}

// Nearest by x.
function nearest(points, at) {
  let best = null;
  for (const point of points) {
    if (best === null || Math.abs(point[0] - at) < Math.abs(best[0] - at)) {
      best = point;
    }
  }
  return best;
}

// `lines`: [{name, points: [[x, y], ...], second, dots}], x ascending; `xText`
// and `yText` write a number; `redraw` is called when the chart has to be shown
// again.
export function chart({id, title, lines, xName, xText, yText, fromZero,
                       redraw}) {
  const state = stateOf(id);
  const shown = lines.filter((line) => line.points.length > 0);
  if (shown.length === 0) return null;
  const xs = shown.flatMap((line) => line.points.map((point) => point[0]));
  const ys = shown.flatMap((line) => line.points.map((point) => point[1]));
  const [xLow, xHigh] = extent(xs);
  let [yLow, yHigh] = extent(ys);
  if (fromZero) yLow = 0;
  if (yHigh === yLow) yHigh = yLow + (Math.abs(yLow) || 1) * 0.1;
  const room = (yHigh - yLow) * 0.04;
  if (!fromZero) yLow -= room;
  yHigh += room;
  const wide = state.width - LEFT - RIGHT;
  const high = HEIGHT - TOP - BOTTOM;
  const x = (v) => LEFT +
      (xHigh === xLow ? wide / 2 : (v - xLow) / (xHigh - xLow) * wide);
  const y = (v) => TOP + high - (v - yLow) / (yHigh - yLow) * high;
  const yTicks = ticks(yLow, yHigh, 5);
  const xTicks = ticks(xLow, xHigh, Math.max(2, Math.floor(wide / 110)));
  const digits = digitsOf(yTicks);
  const at = state.at === null ? null : nearest(shown[0].points, state.at);
  const point = (where) => {
    state.at = where;
    redraw();
  };
  const step = (by) => {
    const points = shown[0].points;
    const index = at === null ? points.length : points.indexOf(at);
    point(points[Math.max(0, Math.min(points.length - 1, index + by))][0]);
  };
  return h('figure', {
    key: id,
    tabindex: '0',
    role: 'group',
    'aria-label': `${title}. Arrow keys read single points.`,
    onkeydown: (event) => {
      const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20,
                     Home: -1e9, End: 1e9};
      if (event.key === 'Escape') return point(null);
      if (!(event.key in steps)) return undefined;
      event.preventDefault();
      return step(steps[event.key]);
    },
  },
  h('svg', {
    viewBox: `0 0 ${state.width} ${HEIGHT}`,
    'aria-hidden': 'true',
    onpointermove: (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const width = Math.round(box.width);
      if (width > 0) state.width = width;
      const pixel = (event.clientX - box.left) / box.width * state.width;
      point(xLow + (pixel - LEFT) / wide * (xHigh - xLow));
    },
    onpointerleave: () => point(null),
  },
  yTicks.map((value) => [
    h('line', {class: 'grid', x1: LEFT, x2: state.width - RIGHT,
               y1: Math.round(y(value)), y2: Math.round(y(value))}),
    h('text', {class: 'tick', x: LEFT - 8, y: y(value) + 4,
               'text-anchor': 'end'},
      yText ? yText(value) : value.toFixed(digits)),
  ]),
  xTicks.map((value) => h('text', {
    class: 'tick', x: x(value), y: HEIGHT - 6,
    'text-anchor': x(value) > state.width - 40 ? 'end' : 'middle',
  }, xText(value))),
  at && h('line', {class: 'cursor', x1: Math.round(x(at[0])),
                   x2: Math.round(x(at[0])), y1: TOP, y2: TOP + high}),
  shown.map((line) => {
    const second = line.second ? ' second' : '';
    const mark = at && nearest(line.points, at[0]);
    return [
      h('path', {class: `line${second}`, d: path(line.points, x, y)}),
      (line.dots || line.points.length === 1) && line.points.length < 100 &&
          line.points.map((dot) => h('circle', {
            class: `dot${second}`, r: 2.5, cx: x(dot[0]), cy: y(dot[1])})),
      mark && h('circle', {class: `dot${second}`, r: 4, cx: x(mark[0]),
                           cy: y(mark[1])}),
    ];
  })),
  h('figcaption', {},
    shown.map((line) => {
      const value = at ? nearest(line.points, at[0]) :
                         line.points[line.points.length - 1];
      return h('span', {class: line.second ? 'key second' : 'key'},
               `${line.name} ${line.text(value[1])}`);
    }),
    h('output', {'aria-live': at ? 'polite' : 'off'},
      at ? `at ${xText(at[0])}${xName ? ` ${xName}` : ''}` : 'newest')));
}

// Charts take the width that they are given. Returns whether one has changed.
export function measure(root) {
  let changed = false;
  for (const figure of root.querySelectorAll('figure')) {
    const state = stateOf(figure.skerryKey);
    const width = Math.round(figure.getBoundingClientRect().width);
    if (width > 0 && width !== state.width) {
      state.width = width;
      changed = true;
    }
  }
  return changed;
}
