// Workers, their states and why.

import {h} from './element.js';
import {silence, whyOf} from './model.js';
import {age, count, plural} from './words.js';

// In the order in which they want attention.
export const STATES = ['lost', 'suspected', 'draining', 'drained', 'cordoned',
                       'connected'];
const ROWS = 100;

const view = {text: '', state: '', rows: ROWS};

export function attention(state) {
  if (state === 'lost') return 'bad';
  return state === 'connected' ? 'good' : 'warn';
}

function row(worker, model, now) {
  const quiet = worker.state === 'lost' || worker.state === 'suspected';
  return h('tr', {key: worker.worker},
           h('th', {scope: 'row'}, worker.worker),
           h('td', {}, worker.island),
           h('td', {class: attention(worker.state)}, worker.state),
           h('td', {class: 'n'}, quiet ? age(silence(worker, now)) : ''),
           h('td', {}, (worker.jobs ?? []).join(', ')),
           h('td', {}, worker.address),
           h('td', {}, worker.release),
           h('td', {class: 'wrap'}, whyOf(worker, model)));
}

export function workersView(model, now, redraw) {
  const all = model.sortedWorkers();
  const text = view.text.toLowerCase();
  const found = all.filter(
      (worker) => (view.state === '' || worker.state === view.state) &&
          [worker.worker, worker.island, worker.address ?? '',
           ...(worker.jobs ?? [])]
              .some((word) => word.toLowerCase().includes(text)));
  const rank = (worker) =>
    (STATES.indexOf(worker.state) + STATES.length) % STATES.length -
    (whyOf(worker, model) === '' ? 0 : 0.5);
  found.sort((a, b) => rank(a) - rank(b));
  const counts = new Map();
  for (const worker of all) {
    counts.set(worker.state, (counts.get(worker.state) ?? 0) + 1);
  }
  return [
    h('h2', {}, 'Workers'),
    h('form', {onsubmit: (event) => event.preventDefault()},
      h('label', {}, 'Filter', h('input', {
        type: 'search', name: 'workers', value: view.text,
        autocomplete: 'off', placeholder: 'name, island, job',
        oninput: (event) => {
          view.text = event.target.value;
          view.rows = ROWS;
          redraw();
        },
      })),
      h('label', {}, 'State', h('select', {
        name: 'state', value: view.state,
        onchange: (event) => {
          view.state = event.target.value;
          view.rows = ROWS;
          redraw();
        },
      }, h('option', {value: ''}, `all (${count(all.length)})`),
      STATES.filter((state) => counts.has(state) || state === view.state)
          .map((state) => h('option', {key: state, value: state},
                            `${state} (${count(counts.get(state) ?? 0)})`)))),
      h('span', {class: 'quiet small', role: 'status'},
        plural(found.length, 'worker'))),
    h('div', {class: 'scroll', key: 'workers'}, h('table', {},
      h('thead', {}, h('tr', {},
        h('th', {scope: 'col'}, 'Worker'),
        h('th', {scope: 'col'}, 'Island'),
        h('th', {scope: 'col'}, 'State'),
        h('th', {scope: 'col', class: 'n'}, 'Silent for'),
        h('th', {scope: 'col'}, 'Jobs'),
        h('th', {scope: 'col'}, 'Address'),
        h('th', {scope: 'col'}, 'Release'),
        h('th', {scope: 'col'}, 'Why'))),
      h('tbody', {}, found.slice(0, view.rows)
          .map((worker) => row(worker, model, now))))),
    found.length > view.rows && h('button', {
      type: 'button', key: 'more',
      onclick: () => {
        view.rows = found.length;
        redraw();
      },
    }, `Show all ${count(found.length)}`),
  ];
}
