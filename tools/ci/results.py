"""Reads what a `bazel test` did from its build event file.

Events name the targets that ran and where each left its test.xml, cached ones
included, so nothing of an earlier run is counted by mistake.
"""

import json
import pathlib
import urllib.parse
import xml.etree.ElementTree as ElementTree

from tools.ci import tally


def of_xml(label, text, passed):
    """The tally of one test.xml; `passed` is Bazel's own verdict."""
    result = tally.Tally()
    try:
        cases = list(ElementTree.fromstring(text).iter('testcase'))
    except ElementTree.ParseError:
        cases = []
    for case in cases:
        # A test without XML of its own gets one case named by its file.
        name = label
        if case.get('classname'):
            name += f' {case.get("classname")}.{case.get("name")}'
        if case.find('failure') is not None or case.find('error') is not None:
            result.failed.append(name)
        elif (case.get('status') == 'notrun' or
              case.get('result') in ('skipped', 'suppressed') or
              case.find('skipped') is not None):
            result.skipped += 1
        else:
            result.passed += 1
    if not passed and not result.failed:
        # Died or ran out of time between cases.
        result.failed.append(label)
    if passed and not cases:
        result.passed += 1
    return result


def _xml_text(event):
    for output in event.get('testActionOutput', []):
        if output['name'] == 'test.xml':
            path = urllib.parse.urlparse(output['uri']).path
            return pathlib.Path(urllib.parse.unquote(path)).read_text(
                encoding='utf-8', errors='replace')
    return ''


def of_events(text, exit_code, read=_xml_text):
    """The tally of a whole `bazel test` from its build events.

    A target that could not be built is one failure. A failure that no target
    owns, like a broken BUILD file, is one too. A target that does not fit the
    configuration, like a CUDA test without CUDA, is skipped.
    """
    runs = {}     # (label, run, shard) -> last attempt
    unbuilt, unfit = [], set()
    for line in text.splitlines():
        event = json.loads(line)
        key = event['id']
        if 'testResult' in key and 'testResult' in event:
            at = key['testResult']
            runs[at['label'], at.get('run', 1), at.get('shard', 1)] = (
                event['testResult'])
        elif 'targetCompleted' in key:
            if event.get('aborted', {}).get('reason') == 'SKIPPED':
                unfit.add(key['targetCompleted']['label'])
            elif not event.get('completed', {}).get('success'):
                unbuilt.append(key['targetCompleted']['label'])
    result = tally.Tally()
    tested = set()
    for (label, _, _), run in sorted(runs.items()):
        tested.add(label)
        if run['status'] in ('NO_STATUS',):
            result.failed.append(f'{label} (not run)')
            continue
        result.add(of_xml(label, read(run), run['status'] == 'PASSED'))
    result.failed += [f'{label} (not built)' for label in sorted(set(unbuilt))
                      if label not in tested]
    result.skipped += len(unfit)
    # Bazel's 4 means that there was nothing to test.
    if exit_code not in (0, 4) and not result.failed:
        result.failed.append(f'bazel (exit status {exit_code})')
    return result
