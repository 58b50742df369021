"""What a run has shown: read from the coordinator, not from intentions."""

import json
import os
import re
import textwrap

from local_cluster import codecs
from local_cluster import curve


def islands_picture(islands, apart=False):
    """The cluster as a few lines of text; `apart`: every island is a site."""
    lines = ['', '                    coordinator', '']
    for island in islands:
        workers = ' == '.join(['worker'] * island.workers)
        lines.append(f'  [ {island.name}: {workers} ]'.ljust(38)
                     + f'--- {island.rate_mbit_s} Mbit/s, ' + (
                         f'{island.reached.value}' if apart else
                         f'{island.rtt_ms} ms --- other islands'))
    lines.append('')
    return '\n'.join(lines)


def entropies(prepared):
    """(bigram, trigram) in nats a byte from what `data prepare` printed."""
    found = re.search(r'bigram ([\d.]+), trigram ([\d.]+)', prepared)
    return float(found.group(1)), float(found.group(2))


def anchor_table(view):
    """[(replica, applied, hash)]: one hash a replica over all of its spans."""
    rows = []
    for replica in view['replicas']:
        seats = sorted(replica['seats'], key=lambda seat: seat['span_begin'])
        hashes = _in_order_of_the_model(seats)
        applied = sorted({int(seat['applied']) for seat in seats})
        rows.append((replica['island'], applied, hashes))
    return rows


def _in_order_of_the_model(seats):
    """A seat lists its spans of the first fragment, of the second and so on."""
    parts = []
    for seat in seats:
        held = int(seat['span_end']) - int(seat['span_begin'])
        hashes = seat['anchor_hashes']
        parts.append([hashes[i:i + held]
                      for i in range(0, len(hashes), max(held, 1))])
    most = max((len(part) for part in parts), default=0)
    return [h for f in range(most) for part in parts if f < len(part)
            for h in part[f]]


def anchors_agree(view):
    """Whether all replicas hold the same bits at the last sequence."""
    rows = anchor_table(view)
    last = int(view['sequence'])
    return bool(rows) and all(
        applied == [last] and hashes and hashes == rows[0][2]
        for _, applied, hashes in rows)


def audit_exact(audit):
    """Whether every sample of the run was committed once."""
    return (int(audit['samples_committed']) == int(audit['samples_total'])
            and not audit['missing'] and not audit['doubled'])


def final(cluster, view, size, progress, seconds, prepared):
    """Prints the end of the demo. True when all that it claims is so."""
    if view['phase'] != 'JOB_PHASE_SUCCEEDED':
        print(f"The job ended as {view['phase']}: {view['reason']}")
        return False
    training = [(int(p['sequence']), p['training_loss'])
                for p in view['losses']]
    validation = [(int(p['sequence']), p['validation_loss'])
                  for p in view['losses'] if 'validation_loss' in p]
    print('\nTraining loss, nats a byte, by committed round')
    print('\n'.join(curve.terminal(training)))
    path = os.path.join(os.getcwd(), 'demo-loss.svg')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(curve.svg(training, validation, progress.marks,
                             'Skerry demo: three islands, one model'))
    print(f'The curve is in {path}\n')
    good = _traffic(view, size, seconds)
    good &= _codecs(cluster, view, progress)
    good &= _audit(cluster, view)
    good &= _loss(validation, size, prepared)
    text = cluster.retry('generate', view['spec']['name'], '--prompt',
                         'And God said, ', '--tokens', '240',
                         '--temperature', '0.7', '--seed', '1')
    print('A sample from the model:')
    print(textwrap.indent(text.decode('utf-8', 'replace').strip(), '    '))
    return good


def _traffic(view, size, seconds):
    counters = view['counters']
    sent = int(counters['bulk_sent_bytes'])
    synchronous = int(counters['synchronous_bytes'])
    compute, stall = counters['compute_s'], counters['stall_s']
    print(f"{view['sequence']} rounds of {int(view['parameters']):,} "
          f'parameters on {size.tokens:,} tokens in {seconds:.0f} s')
    print(f'sent between workers       {sent / 1e6:10.1f} MB')
    print(f'synchronous training would {synchronous / 1e6:10.1f} MB  '
          f'({synchronous / max(sent, 1):.0f} times as much)')
    share = stall / max(compute + stall, 1e-9)
    print(f'stall share                {share:10.1%}')
    print(f"lives {counters['lives']}, attempts {counters['attempts']}, "
          f"commits {counters['commits']}\n")
    return sent > 0


def _codecs(cluster, view, progress):
    """What exchanges were sent with. True when that followed the link's first
    step; how soon a link that recovers is believed depends on the machine."""
    exchanges = codecs.opened(
        cluster.ctl.json_lines('logs', view['spec']['name']))
    links = [(at, name) for at, name in progress.marks if ' link ' in name]
    print('Codecs, from the exchange on at which they were chosen')
    print('\n'.join(codecs.table(exchanges, links)))
    steps = [at for at, _ in links] + [int(view['sequence'])]
    followed = [codecs.follow(exchanges, begin, end)
                for begin, end in zip(steps, steps[1:])]
    found = codecs.chosen(exchanges)
    good = len(found) >= 2 and followed[0]
    print(f"codecs: {' and '.join(found)}: "
          f"{'they followed' if good else 'THEY DID NOT FOLLOW'} the link as "
          f"it got slower{' and recovered' if all(followed) else ''}\n")
    return good


def partly_covered(audit):
    """What some fragments have and others not, of a job with several."""
    if audit.get('fragments', 1) < 2:
        return ''
    return (f", {audit['samples_partly']} of them not in all "
            f"{audit['fragments']} fragments")


def _audit(cluster, view):
    audit = json.loads(cluster.retry('audit', 'data', view['spec']['name'],
                                     '-o', 'json'))
    exact = audit_exact(audit)
    print(f"audit: {audit['samples_committed']} of {audit['samples_total']} "
          f"samples committed, {len(audit['missing'])} ranges missing, "
          f"{len(audit['doubled'])} doubled, {audit['samples_returned']} "
          f"given out again{partly_covered(audit)}: "
          f"{'exact' if exact else 'NOT EXACT'}")
    agree = anchors_agree(view)
    for island, applied, hashes in anchor_table(view):
        short = hashes[0] if hashes else '-'
        print(f'anchor of {island:6} at {applied}: {len(hashes)} spans, first '
              f'{short}')
    print(f"anchors: {'identical' if agree else 'DIFFERENT'}\n")
    return exact and agree


def _loss(validation, size, prepared):
    bigram, trigram = entropies(prepared)
    loss = validation[-1][1]
    bar = bigram if size.bar == 'bigram' else trigram
    print(f'validation loss {loss:.3f} nats a byte; bigram model {bigram:.3f}, '
          f"trigram model {trigram:.3f}: "
          f"{'below' if loss < bar else 'NOT BELOW'} the {size.bar} model\n")
    return loss < bar
