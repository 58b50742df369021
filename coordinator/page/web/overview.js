// The first look: what runs, what is wrong, and what happened last.

import {h} from './element.js';
import {eventTable} from './events.js';
import {age, bytes, count, loss, percent, plural, short} from './words.js';
import {attention, STATES} from './workers.js';

const JOBS_MAX = 50;
const ISLANDS_MAX = 12;
const EVENTS = 10;

export function phaseClass(job) {
  if (job.phase === 'failed' || job.phase === 'diverged') return 'bad';
  if (job.conditions.some((c) => c.needs_help)) return 'bad';
  if (job.conditions.length > 0) return 'warn';
  return job.phase === 'running' || job.phase === 'succeeded' ? 'good' : '';
}

export function figure(name, value, more) {
  return h('div', {}, h('dt', {}, name),
           h('dd', {}, value, more && h('small', {}, more)));
}

export function bar(share, label) {
  return h('progress', {max: '1', value: share.toFixed(4),
                        'aria-label': label});
}

function jobRow(job, now) {
  const curve = job.curve();
  const newest = curve[curve.length - 1];
  const speed = job.speed(20000) ?? job.meanSpeed;
  const note = job.conditions[0]?.text ??
      (job.phase === 'failed' ? job.view.reason : '');
  return h('tr', {key: job.view.id},
           h('th', {scope: 'row'},
             h('a', {href: `#/job/${job.view.id}`}, job.name)),
           h('td', {class: phaseClass(job)}, job.phase),
           h('td', {}, bar(job.done, `${job.name} is done`),
             percent(job.done)),
           h('td', {class: 'n'}, count(job.view.sequence)),
           h('td', {class: 'n'}, newest ? loss(newest.training) : ''),
           h('td', {class: 'n'}, job.ended ? '' :
             `${short(speed)}${job.unit === 'tokens' ? '' : ' samples'}`),
           h('td', {class: 'n'}, job.counters.goodput === undefined ? '' :
             percent(job.counters.goodput)),
           h('td', {class: 'n'}, bytes(job.counters.bulk_sent_bytes)),
           h('td', {class: 'n'}, age(job.ageAt(now))),
           h('td', {class: 'wrap'}, note));
}

export function jobTable(jobs, now) {
  if (jobs.length === 0) {
    return h('p', {class: 'quiet'},
             'There is no job yet. ', h('code', {}, 'skerryctl submit -f ' +
             'job.yaml'), ' starts one.');
  }
  return h('div', {class: 'scroll', key: 'jobs'}, h('table', {},
           h('thead', {}, h('tr', {},
             h('th', {scope: 'col'}, 'Job'),
             h('th', {scope: 'col'}, 'Phase'),
             h('th', {scope: 'col'}, 'Done'),
             h('th', {scope: 'col', class: 'n'}, 'Sequence'),
             h('th', {scope: 'col', class: 'n'}, 'Loss'),
             h('th', {scope: 'col', class: 'n'}, 'Tokens/s'),
             h('th', {scope: 'col', class: 'n'}, 'Goodput'),
             h('th', {scope: 'col', class: 'n'}, 'Sent'),
             h('th', {scope: 'col', class: 'n'}, 'Age'),
             h('th', {scope: 'col'}, 'Why it does not move'))),
           h('tbody', {}, jobs.slice(0, JOBS_MAX)
               .map((job) => jobRow(job, now)))),
           jobs.length > JOBS_MAX && h('p', {class: 'quiet'},
             `${plural(jobs.length - JOBS_MAX, 'older job')} not shown; `,
             h('code', {}, 'skerryctl get jobs'), ' lists all.'));
}

function islandTable(workers) {
  const islands = new Map();
  for (const worker of workers) {
    if (!islands.has(worker.island)) islands.set(worker.island, new Map());
    const states = islands.get(worker.island);
    states.set(worker.state, (states.get(worker.state) ?? 0) + 1);
  }
  const rows = [...islands].map(([island, states]) => ({
    island, states,
    total: [...states.values()].reduce((a, b) => a + b, 0),
    well: states.get('connected') ?? 0,
  })).sort((a, b) => (b.total - b.well) - (a.total - a.well) ||
                     a.island.localeCompare(b.island, 'en', {numeric: true}));
  const seen = STATES.filter(
      (state) => rows.some((row) => row.states.has(state)));
  return h('div', {class: 'scroll', key: 'islands'}, h('table', {class: 'fit'},
           h('thead', {}, h('tr', {},
             h('th', {scope: 'col'}, 'Island'),
             h('th', {scope: 'col', class: 'n'}, 'Workers'),
             seen.map((state) =>
               h('th', {scope: 'col', class: 'n'}, state)))),
           h('tbody', {}, rows.slice(0, ISLANDS_MAX).map((row) =>
             h('tr', {key: row.island},
               h('th', {scope: 'row'}, row.island),
               h('td', {class: 'n'}, count(row.total)),
               seen.map((state) => h('td', {
                 class: `n ${row.states.has(state) ? attention(state) : ''}`,
               }, row.states.get(state) ?? '')))))),
           rows.length > ISLANDS_MAX && h('p', {class: 'quiet'},
             `and ${plural(rows.length - ISLANDS_MAX, 'island')} more`));
}

export function overview(model, now) {
  const jobs = model.sortedJobs();
  const workers = [...model.workers.values()];
  const unfinished = jobs.filter((job) => !job.ended);
  const speed = unfinished.reduce(
      (sum, job) => sum + (job.unit !== 'tokens' ? 0 :
        job.speed(20000) ?? job.meanSpeed), 0);
  const well = workers.filter((w) => w.state === 'connected').length;
  const islands = new Set(workers.map((w) => w.island)).size;
  const troubled = unfinished.filter((job) => job.conditions.length > 0);
  return [
    h('h2', {}, 'Overview'),
    h('dl', {class: 'figures'},
      figure('Unfinished jobs', count(unfinished.length),
             `of ${count(jobs.length)} that are remembered`),
      figure('Jobs that stand', h('span', {
        class: troubled.length > 0 ? 'warn' : ''}, count(troubled.length)),
        troubled.length > 0 ? 'the table says why' : 'all that run move'),
      figure('Tokens a second', short(speed), 'of all jobs together'),
      figure('Workers connected', h('span', {
        class: well < workers.length ? 'warn' : ''},
        `${count(well)} of ${count(workers.length)}`),
        `in ${plural(islands, 'island')}`)),
    h('h3', {}, 'Jobs'),
    jobTable(jobs, now),
    h('div', {class: 'columns'},
      h('section', {}, h('h3', {}, h('a', {href: '#/workers'}, 'Workers')),
        workers.length === 0 ?
          h('p', {class: 'quiet'}, 'No worker has come yet.') :
          islandTable(workers)),
      h('section', {}, h('h3', {}, h('a', {href: '#/events'},
                                     'Newest events')),
        eventTable(model, model.events.filter((event) => !event.routine)
            .slice(-EVENTS), now, true))),
  ];
}
