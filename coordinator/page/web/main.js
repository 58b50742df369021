// Loads the views, follows their changes, and shows what the address names.

import {measure} from './chart.js';
import {h, show} from './element.js';
import {eventsView} from './events.js';
import {jobView} from './job.js';
import {linksView} from './links.js';
import {Model} from './model.js';
import {overview} from './overview.js';
import {workersView} from './workers.js';
import {age} from './words.js';

// The coordinator says something at least every five seconds.
const STALE_MS = 12000;
const POLL_MS = 5000;
const RETRY_MS = 30000;

const PARTS = [['#/', 'Overview'], ['#/workers', 'Workers'],
               ['#/links', 'Links'], ['#/events', 'Events']];

const model = new Model();
const link = {heard: 0, trouble: '', streams: false,
              stream: null, poll: null};
let drawing = false;
let painted = false;

function partOf(hash) {
  const [, name = '', id = ''] = hash.split('/');
  return {name, id};
}

function content(now) {
  const {name, id} = partOf(location.hash);
  switch (name) {
    case 'job':
      return jobView(model, id, now, redraw);
    case 'workers':
      return workersView(model, now, redraw);
    case 'links':
      return linksView(model);
    case 'events':
      return eventsView(model, now, redraw);
    default:
      return overview(model, now);
  }
}

function navigation() {
  const {name, id} = partOf(location.hash);
  const own = name === 'job' ? '#/job' : `#/${name}`;
  const parts = name === 'job' ?
      [...PARTS.slice(0, 1), [`#/job/${id}`, model.jobName(id)],
       ...PARTS.slice(1)] : PARTS;
  return h('ul', {}, parts.map(([href, title]) => h('li', {}, h('a', {
    href, 'aria-current': (href === own || href === `#/job/${id}`) && 'page',
  }, title))));
}

function liveText(now) {
  const silent = now - link.heard;
  if (link.trouble) return `not live: ${link.trouble}`;
  if (silent > STALE_MS) return `not live: nothing for ${age(silent)}`;
  return link.streams ? 'live' : 'every five seconds';
}

function draw() {
  drawing = false;
  if (model.mark === '' && !link.trouble) return;
  const now = performance.now();
  const live = document.getElementById('live');
  const text = liveText(now) +
      (model.release ? `, release ${model.release}` : '');
  if (live.textContent !== text) live.textContent = text;
  live.className = text.startsWith('not live') ? 'stale' : '';
  show(document.getElementById('nav'), navigation());
  const main = document.getElementById('content');
  if (model.mark !== '') {
    show(main, content(now));
    if (measure(main)) show(main, content(now));
  }
  const job = model.jobs.get(partOf(location.hash).id);
  document.title = job ? `${job.name} – Skerry` : 'Skerry';
  if (!painted && model.mark !== '') {
    painted = true;
    // Two frames later everything is on the screen.
    requestAnimationFrame(() => requestAnimationFrame(
        () => performance.mark('skerry-painted')));
  }
}

function redraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(draw);
}

function take(text) {
  const now = performance.now();
  link.heard = now;
  link.trouble = '';
  model.take(JSON.parse(text), now);
  redraw();
}

async function load() {
  const answer = await fetch('/page/view', {cache: 'no-store'});
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim());
  take(text);
}

async function loadOrSay() {
  try {
    await load();
  } catch (error) {
    link.trouble = error.message;
    redraw();
  }
}

// When too many streams are open, or the coordinator is away.
function poll() {
  link.streams = false;
  if (link.poll !== null) return;
  link.poll = setInterval(loadOrSay, POLL_MS);
  setTimeout(follow, RETRY_MS);
}

function follow() {
  if (document.hidden || link.stream) return;
  const stream = new EventSource(`/page/changes?after=${model.mark}`);
  link.stream = stream;
  const alive = () => {
    link.heard = performance.now();
    link.streams = true;
    link.trouble = '';
    clearInterval(link.poll);
    link.poll = null;
  };
  stream.onopen = () => {
    alive();
    redraw();
  };
  stream.onmessage = (event) => {
    alive();
    take(event.data);
  };
  stream.addEventListener('still', () => {
    alive();
    redraw();
  });
  stream.addEventListener('trouble', (event) => {
    alive();
    link.trouble = event.data;
    redraw();
  });
  stream.onerror = () => {
    // The browser tries again by itself unless the answer was a refusal.
    if (stream.readyState !== EventSource.CLOSED) {
      link.trouble = 'the coordinator does not answer';
    } else {
      link.stream = null;
      poll();
    }
    redraw();
  };
}

async function start() {
  await loadOrSay();
  if (model.mark === '') {
    setTimeout(start, POLL_MS);
    return;
  }
  follow();
}

window.addEventListener('hashchange', () => {
  window.scrollTo(0, 0);
  draw();
  document.getElementById('content').focus({preventScroll: true});
});
window.addEventListener('resize', redraw);
// A page that nobody sees takes no stream from another one.
document.addEventListener('visibilitychange', () => {
  if (model.mark === '') return;
  if (document.hidden) {
    link.stream?.close();
    link.stream = null;
  } else {
    link.heard = performance.now();
    follow();
  }
});
// Ages go on.
setInterval(() => {
  if (!document.hidden) redraw();
}, 1000);
start();
