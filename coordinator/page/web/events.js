// What happened last.

import {h} from './element.js';
import {age, number, plural} from './words.js';

const state = {text: '', routine: false};

function eventAge(event, now) {
  return age(number(event.age_ms) + (now - event.received));
}

// Newest first. `brief`: without the column of what it belongs to, and at most
// two lines of each message.
export function eventTable(model, events, now, brief) {
  if (events.length === 0) return h('p', {class: 'quiet'}, 'None.');
  return h('div', {class: 'scroll', key: 'events'}, h('table', {},
           h('thead', {}, h('tr', {},
             h('th', {scope: 'col', class: 'n'}, 'Ago'),
             h('th', {scope: 'col'}, 'Event'),
             !brief && h('th', {scope: 'col'}, 'Of'),
             h('th', {scope: 'col'}, 'What'))),
           h('tbody', {}, [...events].reverse().map((event) =>
             h('tr', {key: event.revision},
               h('td', {class: 'n age'}, eventAge(event, now)),
               h('td', {class: 'event'}, event.name),
               !brief && h('td', {}, event.worker ? event.worker :
                 event.job && h('a', {href: `#/job/${event.job}`},
                                model.jobName(event.job))),
               h('td', {class: 'wrap'},
                 brief ? h('span', {class: 'brief'}, event.message) :
                   event.message))))));
}

export function eventsView(model, now, redraw) {
  const wanted = state.text.toLowerCase();
  const found = model.events.filter((event) =>
    (state.routine || !event.routine) &&
    [event.name, event.message, event.worker ?? '', model.jobName(event.job)]
        .some((word) => word.toLowerCase().includes(wanted)));
  return [
    h('h2', {}, 'Events'),
    h('p', {class: 'quiet'}, 'The newest of all jobs and workers. ',
      h('code', {}, 'skerryctl logs JOB'), ' has the whole history of a job.'),
    h('form', {onsubmit: (event) => event.preventDefault()},
      h('label', {}, 'Filter', h('input', {
        type: 'search', name: 'events', value: state.text,
        autocomplete: 'off',
        oninput: (event) => {
          state.text = event.target.value;
          redraw();
        },
      })),
      h('label', {}, h('input', {
        type: 'checkbox', name: 'routine',
        onchange: (event) => {
          state.routine = event.target.checked;
          redraw();
        },
      }), ' with those of every exchange'),
      h('span', {class: 'quiet small', role: 'status'},
        plural(found.length, 'event'))),
    eventTable(model, found, now, false),
  ];
}
