// What the page knows: the messages of operator.proto as they came, merged.

import {age, enumWord, number} from './words.js';

// Events that are kept: so many that are routine, and as many that are not.
const EVENTS_MAX = 200;
// Losses of a job that are kept, and moments of its speed.
const LOSSES_MAX = 4096;
const MOMENTS_MAX = 600;
const ENDED = ['succeeded', 'failed', 'cancelled'];

// A job: the newest JobView without its losses, the losses by sequence, and
// what was seen while this page is open.
class Job {
  constructor() {
    this.view = {};
    this.losses = new Map();
    this.moments = [];
    this.received = 0;
  }

  get name() { return this.view.spec?.name ?? ''; }
  get phase() { return enumWord(this.view.phase, 'JOB_PHASE_'); }
  get ended() { return ENDED.includes(this.phase); }
  get counters() { return this.view.counters ?? {}; }
  get conditions() { return this.view.conditions ?? []; }
  get replicas() { return this.view.replicas ?? []; }
  get done() {
    const total = number(this.view.samples_total);
    return total === 0 ? 0 : number(this.view.samples_committed) / total;
  }

  // What a speed counts: a program's job may have samples without tokens.
  get unit() { return number(this.view.tokens_per_sample) > 0 ? 'tokens' :
    'samples'; }
  get perSample() { return number(this.view.tokens_per_sample) || 1; }
  // That many a second since the job or the coordinator began.
  get meanSpeed() {
    return number(this.unit === 'tokens' ? this.counters.tokens_per_s :
      this.counters.samples_per_s);
  }

  ageAt(now) {
    return number(this.view.age_ms) + (now - this.received);
  }

  // Losses by sequence.
  curve() {
    return [...this.losses.values()].sort((a, b) => a.sequence - b.sequence);
  }

  take(part, now) {
    const {losses, ...rest} = part;
    for (const point of losses ?? []) {
      this.losses.set(number(point.sequence), {
        sequence: number(point.sequence),
        samples: number(point.samples),
        training: number(point.training_loss),
        validation: point.validation_loss,
      });
    }
    if (this.losses.size > LOSSES_MAX) this.thin();
    if (rest.phase !== undefined) {
      // The head of the job: a field that it lacks is 0 now.
      this.view = {...rest, replicas: this.view.replicas};
      this.received = now;
      this.remember(now);
    } else {
      this.view = {...this.view, ...rest};
    }
  }

  thin() {
    const newest = Math.max(...this.losses.keys());
    let index = 0;
    for (const point of this.curve()) {
      index += 1;
      if (index % 2 === 0 && point.validation === undefined &&
          point.sequence !== newest) {
        this.losses.delete(point.sequence);
      }
    }
  }

  remember(now) {
    this.moments.push({at: now, samples: number(this.view.samples_committed)});
    if (this.moments.length > MOMENTS_MAX) this.moments.shift();
  }

  // [when, units a second over the `window` milliseconds before], for each
  // moment for which the page has been open that long.
  speeds(window) {
    const found = [];
    let first = 0;
    for (const last of this.moments) {
      while (this.moments[first + 1]?.at <= last.at - window) first += 1;
      const before = this.moments[first];
      if (before.at > last.at - window) continue;
      const done = (last.samples - before.samples) * this.perSample;
      found.push([last.at,
                  Math.max(0, done) * 1000 / (last.at - before.at)]);
    }
    return found;
  }

  // The newest of these; null when there is none.
  speed(window) {
    const speeds = this.speeds(window);
    return speeds.length > 0 ? speeds[speeds.length - 1][1] : null;
  }

  // Milliseconds until all samples are committed at the speed of the last half
  // minute; null when that is not known.
  left() {
    const speed = this.ended || this.phase !== 'running' ? null :
        this.speed(30000) ?? this.meanSpeed;
    if (!speed) return null;
    const samples = number(this.view.samples_total) -
        number(this.view.samples_committed);
    return samples * this.perSample * 1000 / speed;
  }
}

export class Model {
  constructor() {
    this.mark = '';
    this.release = '';
    this.clear();
  }

  clear() {
    this.jobs = new Map();
    this.workers = new Map();
    this.events = [];
  }

  // Takes in one answer of /page/view or one message of /page/changes.
  take(news, now) {
    if (news.whole) {
      // Speeds that were seen stay, if it is the same process that goes on.
      const before = this.jobs;
      this.clear();
      for (const part of news.jobs ?? []) {
        if (before.has(part.id) && !this.jobs.has(part.id)) {
          const job = new Job();
          job.moments = before.get(part.id).moments;
          this.jobs.set(part.id, job);
        }
      }
    }
    this.mark = news.mark;
    this.release = news.release;
    for (const part of news.jobs ?? []) {
      if (!this.jobs.has(part.id)) this.jobs.set(part.id, new Job());
      this.jobs.get(part.id).take(part, now);
    }
    for (const part of news.workers ?? []) this.takeWorker(part, now);
    for (const event of news.events ?? []) {
      this.events.push({...event, received: now});
    }
    const left = [EVENTS_MAX, EVENTS_MAX];
    this.events = this.events
        .reverse().filter((event) => left[event.routine ? 0 : 1]-- > 0)
        .reverse();
  }

  takeWorker(part, now) {
    const known = this.workers.get(part.worker);
    if (part.state === undefined) {
      this.workers.set(part.worker, {...known, ...part});
    } else {
      this.workers.set(part.worker,
                       {...part, links: known?.links, received: now});
    }
  }

  // Unfinished jobs first, then the newest.
  sortedJobs() {
    return [...this.jobs.values()].sort(
        (a, b) => a.ended - b.ended || number(b.view.id) - number(a.view.id));
  }

  sortedWorkers() {
    return [...this.workers.values()].sort(
        (a, b) => a.worker.localeCompare(b.worker, 'en', {numeric: true}));
  }

  jobName(id) {
    return this.jobs.get(id)?.name ?? (id ? `job ${id}` : '');
  }

  islandOf(worker) {
    return this.workers.get(worker)?.island ?? '';
  }
}

// Why the worker is in its state, or what else is wrong with it. The words are
// the coordinator's.
export function whyOf(worker, model) {
  const reasons = [];
  if (worker.apart) reasons.push(worker.apart);
  if (worker.drain_reason) reasons.push(worker.drain_reason);
  for (const {job, reason} of worker.unserved ?? []) {
    reasons.push(`cannot serve ${job}: ${reason}`);
  }
  if (worker.contender) {
    reasons.push(`another process of this name was refused, at ` +
                 worker.contender.address);
  }
  if (worker.state === 'suspected') {
    reasons.push(`nothing is heard of it; its lease is ` +
                 age(number(worker.lease_ms)));
  } else if (worker.state === 'lost') {
    const left = model.events.filter(
        (event) => event.worker === worker.worker &&
                   event.name === 'WorkerLeft').pop();
    if (left) reasons.push(left.message);
  } else if (worker.intent === 'WORKER_INTENT_CORDON' ||
             worker.intent === 'WORKER_INTENT_DRAIN') {
    const word = enumWord(worker.intent, 'WORKER_INTENT_');
    reasons.push(`an operator wants it to ${word}`);
  }
  return reasons.join('; ');
}

export function silence(worker, now) {
  return number(worker.silence_ms) + (now - worker.received);
}
