// Numbers as words. A number that is missing in a message is 0.

// 64-bit numbers are text in JSON.
export function number(value) {
  return Number(value ?? 0);
}

// "1 428 336", with thin spaces that do not break.
export function count(value) {
  return String(Math.round(number(value)))
      .replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

// Three digits and a prefix: "1.43 M".
function prefixed(value, step, units) {
  let unit = 0;
  let left = value;
  while (left >= step && unit + 1 < units.length) {
    left /= step;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : left < 10 ? 2 : left < 100 ? 1 : 0;
  return `${left.toFixed(digits)}\u00a0${units[unit]}`.trim();
}

export function bytes(value) {
  return prefixed(number(value), 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}

export function short(value) {
  return prefixed(number(value), 1000, ['', 'k', 'M', 'G', 'T']);
}

// As short(), without zeros that say nothing; for the ticks of a chart.
export function tick(value) {
  return short(value).replace(/(\.\d*?)0+(?=\u00a0|$)/, '$1')
      .replace(/\.(?=\u00a0|$)/, '');
}

export function rate(bytesPerSecond) {
  const mbit = number(bytesPerSecond) * 8 / 1e6;
  return `${mbit.toFixed(mbit < 10 ? 2 : mbit < 100 ? 1 : 0)}`;
}

export function percent(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`;
}

export function loss(value) {
  return number(value).toFixed(4);
}

// "3m12s", as skerryctl writes it.
export function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return '0s';
  return parts.slice(first, first + 2)
      .map(([value, unit]) => `${value}${unit}`).join('');
}

// "running" of JOB_PHASE_RUNNING.
export function enumWord(value, prefix) {
  return (value ?? '').replace(prefix, '').toLowerCase();
}

export function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many ?? `${one}s`}`;
}
