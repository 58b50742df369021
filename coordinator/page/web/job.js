// One job.

import {chart} from './chart.js';
import {h} from './element.js';
import {eventTable} from './events.js';
import {bar, figure, phaseClass} from './overview.js';
import {age, bytes, count, enumWord, loss, number, percent, plural, short,
        tick} from './words.js';

const ROWS = 100;
const EVENTS = 15;
const SPEED_WINDOW_MS = 30000;

const rows = new Map();

// What the job is doing, or why it does not move: the coordinator's words, as
// `skerryctl describe job` has them. While the job moves they change with every
// exchange and have one line.
function standing(job) {
  const {conditions} = job;
  const worst = phaseClass(job);
  const others = conditions.filter((c) => c.text !== job.view.reason);
  return h('section', {
    class: `standing ${conditions.length === 0 ? 'moves' : worst}`,
    'aria-label': 'What it is doing'},
           h('p', {}, job.view.reason || 'Nothing is known yet.'),
           others.length > 0 && h('ul', {}, others.map((condition) =>
             h('li', {class: condition.needs_help ? 'bad' : 'warn'},
               condition.text))));
}

function newestWith(curve, field) {
  for (let i = curve.length - 1; i >= 0; --i) {
    if (curve[i][field] !== undefined) return curve[i];
  }
  return null;
}

// The exchange's member of each replica, by number.
function membersOf(job) {
  const members = new Map();
  for (const member of job.view.exchange?.members ?? []) {
    members.set(String(member.replica), member);
  }
  return members;
}

function figures(job, curve) {
  const {view, counters} = job;
  const trained = newestWith(curve, 'training');
  const validated = newestWith(curve, 'validation');
  const speed = job.speed(SPEED_WINDOW_MS);
  const busy = number(counters.compute_s) + number(counters.stall_s);
  const late = (view.exchange?.members ?? []).map((m) => number(m.lateness));
  const sent = number(counters.bulk_sent_bytes);
  const synchronous = number(counters.synchronous_bytes);
  const checkpoints = view.checkpoints ?? [];
  const newest = checkpoints[checkpoints.length - 1];
  const method = enumWord(view.spec?.outer?.method, 'OUTER_METHOD_');
  return h('dl', {class: 'figures'},
    figure('Training loss', trained ? loss(trained.training) : '–',
           job.unit === 'tokens' ? 'nats a token' : ''),
    figure('Validation loss', validated ? loss(validated.validation) : '–',
           validated ? `at sequence ${count(validated.sequence)}` :
             number(view.validation_samples) === 0 &&
               view.validation_samples !== undefined ?
               'the data have no such split' : 'not evaluated yet'),
    !job.ended && figure(perSecond(job), short(speed ?? job.meanSpeed),
      speed === null ? 'since it began' :
        `${short(job.meanSpeed)} since it began`),
    figure('Goodput', counters.goodput === undefined ? '–' :
      percent(counters.goodput),
      busy > 0 ? `stalled ${percent(number(counters.stall_s) / busy)}` : ''),
    figure('Lateness', late.length === 0 ? '–' :
      plural(Math.max(...late), 'commit'),
      late.length === 0 ? '' : `at most, in exchange ` +
        count(view.exchange.sequence)),
    figure('Sent between workers', bytes(sent),
           sent > 0 && synchronous > 0 ?
             `${count(synchronous / sent)} × less than synchronous` : ''),
    figure('Sequence', count(view.sequence),
           `${count(counters.attempts)} attempts, ` +
           `${count(counters.contributions_dropped)} dropped`),
    figure('Checkpoint', newest ? count(newest.sequence) : 'none',
           newest ? `${bytes(newest.bytes)}, by ${newest.worker}` : ''),
    Object.entries(view.metrics ?? {}).sort().map(([name, value]) =>
      figure(name, String(Number(value.toPrecision(4))),
             'as its trainers report')),
    figure('Outer loop', method,
           `τ ${number(view.spec?.training?.tau)}, ` +
           `${short(view.parameters)} parameters`));
}

function perSecond(job) {
  return job.unit === 'tokens' ? 'Tokens a second' : 'Samples a second';
}

function lossChart(job, curve, redraw) {
  const line = (field) => curve.filter((p) => p[field] !== undefined)
      .map((p) => [p.samples * job.perSample, p[field]]);
  return chart({
    id: `loss-${job.view.id}`,
    title: `Loss over ${job.unit}`,
    lines: [
      {name: 'training', points: line('training'), text: loss},
      {name: 'validation', points: line('validation'), second: true,
       dots: true, text: loss},
    ],
    xName: job.unit,
    xText: tick,
    redraw,
  });
}

function speedChart(job, now, redraw) {
  const points = job.speeds(SPEED_WINDOW_MS)
      .map(([at, speed]) => [(at - now) / 1000, speed]);
  if (points.length < 2) return null;
  return chart({
    id: `speed-${job.view.id}`,
    title: `${perSecond(job)} while this page is open`,
    lines: [{name: 'over 30 s', points, text: short}],
    xName: '',
    xText: (seconds) => seconds > -1 ? 'now' : age(-1000 * seconds),
    yText: tick,
    fromZero: true,
    redraw,
  });
}

function seatRow(job, replica, seat, member) {
  const alive = number(replica.life) > 0;
  const behind = number(job.view.sequence) - number(seat.applied);
  const busy = number(seat.compute_s) + number(seat.stall_s);
  const raw = 4 * number(job.view.exchange?.elements);
  const note = seat.error || seat.trainer_trouble ||
      (replica.suspected ? 'nothing is heard of it' : '');
  const bad = Boolean(seat.error) || seat.state === 'failed';
  return h('tr', {key: `${replica.island}/${seat.worker}`},
           h('th', {scope: 'row'}, seat.worker),
           h('td', {}, replica.island),
           h('td', {class: bad ? 'bad' : replica.suspected || !alive ? 'warn' :
             ''}, seat.state),
           h('td', {class: 'n'}, alive || number(seat.applied) > 0 ?
             count(Math.max(0, behind)) : ''),
           h('td', {class: 'n'}, member ? count(member.lateness) : ''),
           h('td', {}, member ? member.codec : ''),
           h('td', {}, member ? member.result_codec : ''),
           h('td', {class: 'n'}, member && number(member.encoded_bytes) > 0 ?
             `${(raw / number(member.encoded_bytes)).toFixed(1)} ×` : ''),
           h('td', {class: 'n'}, bytes(seat.sent_bytes)),
           h('td', {class: 'n'}, bytes(seat.received_bytes)),
           h('td', {class: 'n'}, busy > 0 ?
             percent(number(seat.stall_s) / busy) : ''),
           h('td', {class: 'wrap'}, note));
}

function replicaTable(job, redraw) {
  const members = membersOf(job);
  const seats = job.replicas.flatMap(
      (replica) => (replica.seats ?? []).map((seat) => [replica, seat]));
  if (seats.length === 0) {
    return h('p', {class: 'quiet'}, 'No worker has a place in it.');
  }
  const trouble = ([replica, seat]) =>
    seat.error || seat.trainer_trouble || replica.suspected ||
    number(replica.life) === 0 ? 0 : 1;
  if (seats.length > ROWS) seats.sort((a, b) => trouble(a) - trouble(b));
  const most = rows.get(job.view.id) ?? ROWS;
  const exchange = job.view.exchange;
  return [
    h('div', {class: 'scroll', key: 'seats'}, h('table', {},
      h('thead', {}, h('tr', {},
        h('th', {scope: 'col'}, 'Worker'),
        h('th', {scope: 'col'}, 'Island'),
        h('th', {scope: 'col'}, 'State'),
        h('th', {scope: 'col', class: 'n'}, 'Behind'),
        h('th', {scope: 'col', class: 'n'}, 'Late'),
        h('th', {scope: 'col'}, 'Codec'),
        h('th', {scope: 'col'}, 'of results'),
        h('th', {scope: 'col', class: 'n'}, 'Smaller'),
        h('th', {scope: 'col', class: 'n'}, 'Sent'),
        h('th', {scope: 'col', class: 'n'}, 'Received'),
        h('th', {scope: 'col', class: 'n'}, 'Stalled'),
        h('th', {scope: 'col'}, 'Note'))),
      h('tbody', {}, seats.slice(0, most).map(([replica, seat]) =>
        seatRow(job, replica, seat, members.get(String(replica.replica))))))),
    seats.length > most && h('button', {
      type: 'button', key: 'more',
      onclick: () => {
        rows.set(job.view.id, seats.length);
        redraw();
      },
    }, `Show all ${count(seats.length)}`),
    exchange && h('p', {class: 'small', key: 'why'},
      h('strong', {}, `Why these codecs and owners, in exchange ` +
        `${count(exchange.sequence)}: `), exchange.reason),
  ];
}

function checkpointTable(job) {
  const saved = [...job.view.checkpoints ?? []].reverse();
  if (saved.length === 0) {
    return h('p', {class: 'quiet'}, job.view.spec?.checkpoint ?
      'None is saved yet.' : 'The job file asks for none.');
  }
  return h('div', {class: 'scroll', key: 'checkpoints'}, h('table', {class: 'fit'},
           h('thead', {}, h('tr', {},
             h('th', {scope: 'col', class: 'n'}, 'Sequence'),
             h('th', {scope: 'col', class: 'n'}, 'Size'),
             h('th', {scope: 'col'}, 'Saved by'))),
           h('tbody', {}, saved.map((one) => h('tr', {key: one.sequence},
             h('td', {class: 'n'}, count(one.sequence)),
             h('td', {class: 'n'}, bytes(one.bytes)),
             h('td', {}, one.worker))))));
}

export function jobView(model, id, now, redraw) {
  const job = model.jobs.get(id);
  if (!job) {
    return [h('h2', {}, 'Job'), h('p', {}, 'There is no job of this number. ',
              h('a', {href: '#/'}, 'All jobs'))];
  }
  const curve = job.curve();
  const speeds = speedChart(job, now, redraw);
  const left = job.left();
  const ours = model.events.filter((event) => event.job === id);
  return [
    h('h2', {}, job.name, ' ', h('span', {class: `${phaseClass(job)} small`},
                                 job.phase)),
    h('p', {class: 'quiet'}, bar(job.done, `${job.name} is done`),
      `${percent(job.done)} in ${age(job.ageAt(now))}, ` +
        `${count(job.view.samples_committed)} of ` +
        `${count(job.view.samples_total)} samples`,
      left && `, about ${age(left)} left`,
      job.view.queue && `, number ${number(job.view.queue.position)} of ` +
        `${number(job.view.queue.length)} in the queue`),
    standing(job),
    figures(job, curve),
    h('div', {class: 'columns'},
      h('section', {}, h('h3', {}, 'Loss'),
        lossChart(job, curve, redraw) ??
          h('p', {class: 'quiet'}, 'Nothing is committed yet.')),
      !job.ended && h('section', {}, h('h3', {}, perSecond(job)),
        speeds ?? h('p', {class: 'quiet'},
                    'The curve begins when this page has been open for ' +
                    'some seconds.'))),
    h('h3', {}, 'Replicas and their links'),
    replicaTable(job, redraw),
    h('div', {class: 'columns'},
      h('section', {}, h('h3', {}, 'Checkpoints'), checkpointTable(job)),
      h('section', {}, h('h3', {}, 'Newest events'),
        eventTable(model, ours.slice(-EVENTS), now, true))),
  ];
}
