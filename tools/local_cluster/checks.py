"""What must be so at the end of every job, whatever happened to it."""

import json
import re
import time

from local_cluster import logs
from local_cluster import report

_SETTLE_S = 10.0
# Protocol 5.3 and 5.6: hashes that differ, and history given up.
_CONDITION = re.compile(r'\brestor|\bhash', re.IGNORECASE)


def settled_view(cluster, job):
    """The job's view once every replica reports the last anchor.

    Workers say so a moment after the job has ended; after some seconds the view
    is taken as it is.
    """
    deadline = time.monotonic() + _SETTLE_S
    while True:
        cluster.supervise()
        view = cluster.ctl.job(job)
        if view and (report.anchors_agree(view)
                     or time.monotonic() > deadline):
            return view
        time.sleep(0.1)


def lives(cluster, job):
    """How many lives the job has seen."""
    return sum(event['name'] == 'ReplicaAdmitted'
               for event in cluster.ctl.json_lines('logs', job))


def samples(cluster, job):
    """How many samples of the job are committed."""
    return int(cluster.ctl.job(job)['samples_committed'])


def pace(cluster, job, seconds):
    """Samples a second that are committed in the next seconds; not none."""
    began, first = time.monotonic(), samples(cluster, job)
    time.sleep(seconds)
    done = samples(cluster, job) - first
    if not done:
        raise RuntimeError(f'{job} commits nothing in {seconds:.0f} s')
    return done / (time.monotonic() - began)


def conditions(cluster):
    """Lines of logs that tell of differing hashes or a restore."""
    found = []
    for daemon in cluster.daemons():
        for entry in logs.read(daemon.log_path):
            text = json.dumps({k: v for k, v in entry.items() if k != 'time'})
            if _CONDITION.search(text):
                found.append(f'{daemon.name}: {text}')
    return found


def end_of_job(cases, cluster, job):
    """Success, an exact audit, identical anchors. Returns the last view."""
    view = settled_view(cluster, job)
    cases.check(f'{job} succeeds', view['phase'] == 'JOB_PHASE_SUCCEEDED',
                f"{view['phase']} {view['reason']}")
    audit = json.loads(cluster.retry('audit', 'data', job, '-o', 'json'))
    cases.check(
        f'{job} loses and doubles no sample', report.audit_exact(audit),
        f"{audit['samples_committed']} of {audit['samples_total']} committed, "
        f"{len(audit['missing'])} ranges missing, {len(audit['doubled'])} "
        f"doubled, {audit['samples_returned']} given out again")
    applied = [(island, at) for island, at, _ in report.anchor_table(view)]
    cases.check(f"{job}'s anchors are identical", report.anchors_agree(view),
                f"sequence {view['sequence']}, applied {applied}")
    return view
