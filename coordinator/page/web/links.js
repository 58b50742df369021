// Measured links: between islands as a matrix, and the slowest one by one.

import {h} from './element.js';
import {count, number, rate} from './words.js';

const ISLANDS_MAX = 16;
const SLOWEST_MAX = 20;

// All measured links between islands, the slowest first.
function linksOf(model) {
  const links = [];
  for (const worker of model.workers.values()) {
    for (const link of worker.links ?? []) {
      const to = model.islandOf(link.worker);
      if (to === '') continue;
      links.push({from: worker.worker, to: link.worker,
                  fromIsland: worker.island, toIsland: to,
                  rate: number(link.bytes_per_s),
                  trip: number(link.round_trip_s)});
    }
  }
  return links.sort((a, b) => a.rate - b.rate);
}

function milliseconds(seconds) {
  return `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
}

// 4: as slow as the slowest, by powers of two; 0: sixteen times as fast.
function tint(speed, slowest) {
  const doublings = Math.log2(Math.max(speed, 1) / Math.max(slowest, 1));
  return Math.max(0, 4 - Math.floor(doublings));
}

function matrix(islands, slowestOf, slowest) {
  return h('div', {class: 'scroll', key: 'matrix'},
           h('table', {class: 'matrix', 'aria-describedby': 'matrix-says'},
             h('thead', {}, h('tr', {},
               h('th', {scope: 'col'}, 'From \\ to'),
               islands.map((to) => h('th', {scope: 'col', class: 'n'}, to)))),
             h('tbody', {}, islands.map((from) => h('tr', {key: from},
               h('th', {scope: 'row'}, from),
               islands.map((to) => {
                 const link = slowestOf.get(`${from}\n${to}`);
                 if (!link) {
                   return h('td', {class: 'own'}, from === to ? '·' : '–');
                 }
                 return h('td', {
                   class: `t${tint(link.rate, slowest)}`,
                   title: `${link.from} to ${link.to}`,
                 }, rate(link.rate), h('small', {}, milliseconds(link.trip)));
               }))))));
}

export function linksView(model) {
  const links = linksOf(model);
  if (links.length === 0) {
    return [h('h2', {}, 'Links'),
            h('p', {class: 'quiet'}, 'No link is measured yet. Workers ' +
              'measure a link by the frames that a job sends over it.')];
  }
  const slowestOf = new Map();
  const islands = new Set();
  for (const link of links) {
    islands.add(link.fromIsland).add(link.toIsland);
    const pair = `${link.fromIsland}\n${link.toIsland}`;
    if (!slowestOf.has(pair)) slowestOf.set(pair, link);
  }
  // Islands came in the order of their slowest links.
  const shown = [...islands].slice(0, ISLANDS_MAX)
      .sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
  return [
    h('h2', {}, 'Links'),
    h('p', {class: 'quiet', id: 'matrix-says'}, 'The slowest link between ' +
      'two islands, from the row to the column: Mbit/s, and the round trip. ' +
      'The stronger a cell is tinted, the slower is its link.'),
    matrix(shown, slowestOf, links[0].rate),
    islands.size > shown.length && h('p', {class: 'quiet'},
      `${count(shown.length)} of ${count(islands.size)} islands, those with ` +
      'the slowest links.'),
    h('h3', {}, 'Slowest links'),
    h('div', {class: 'scroll', key: 'slowest'}, h('table', {class: 'fit'},
      h('thead', {}, h('tr', {},
        h('th', {scope: 'col'}, 'From'), h('th', {scope: 'col'}, 'Island'),
        h('th', {scope: 'col'}, 'To'), h('th', {scope: 'col'}, 'Island'),
        h('th', {scope: 'col', class: 'n'}, 'Mbit/s'),
        h('th', {scope: 'col', class: 'n'}, 'Round trip'))),
      h('tbody', {}, links.slice(0, SLOWEST_MAX).map((link) =>
        h('tr', {key: `${link.from}\n${link.to}`},
          h('td', {}, link.from), h('td', {}, link.fromIsland),
          h('td', {}, link.to), h('td', {}, link.toIsland),
          h('td', {class: 'n'}, rate(link.rate)),
          h('td', {class: 'n'}, milliseconds(link.trip))))))),
    h('p', {class: 'quiet small'}, 'Of each worker, the slowest link to each ' +
      'other island is here. A job’s page says which codec crosses a link, ' +
      'and why.'),
  ];
}
