"""One way to break each rule of chart_policy, by number, so that a rule which
finds nothing is found out."""

import copy

from chart_policy import boxes, of_kind, pods, workers


def _pod(objects, component='worker'):
    return next(pod for _, labels, pod in pods(objects)
                if labels['app.kubernetes.io/component'] == component)


def _worker(objects):
    return workers(objects)[0][1]


def _set(objects, component='coordinator'):
    return next(one for one in of_kind(objects, 'StatefulSet')
                if one['metadata']['labels']['app.kubernetes.io/component']
                == component)


def _replace(words, flag, value):
    words[:] = [f'--{flag}={value}' if word.startswith(f'--{flag}=') else word
                for word in words]


def _policy(objects, name):
    return next(one['spec'] for one in of_kind(objects, 'NetworkPolicy')
                if one['metadata']['name'] == name)


def _add_config_map(objects):
    objects.append({'kind': 'ConfigMap', 'metadata': {'name': 'keys'}})


def _remove_policy(objects):
    objects.remove(next(one for one in of_kind(objects, 'NetworkPolicy')
                        if one['metadata']['name'] == 'skerry'))


def _second_worker(objects):
    box = copy.deepcopy(_worker(objects))
    box['name'] = 'worker-1'
    _pod(objects)['containers'].append(box)


def _wide_selector(objects):
    del _set(objects)['spec']['selector']['matchLabels'][
        'app.kubernetes.io/component']


def _spot(objects):
    _pod(objects, 'coordinator')['tolerations'] = [
        {'key': 'cloud.google.com/gke-spot', 'operator': 'Exists'}]


BREAKS = [
    lambda o: _pod(o)['securityContext'].update(runAsUser=0),
    lambda o: _pod(o)['securityContext'].pop('seccompProfile'),
    lambda o: _worker(o)['securityContext'].update(
        capabilities={'drop': ['ALL'], 'add': ['IPC_LOCK']}),
    lambda o: _worker(o)['securityContext'].update(
        readOnlyRootFilesystem=False),
    lambda o: _pod(o).update(hostIPC=True),
    lambda o: _pod(o).update(automountServiceAccountToken=True),
    lambda o: _worker(o)['args'].append(
        '--join-token=abcdef.0123456789abcdef'),
    _add_config_map,
    lambda o: _pod(o)['volumes'][2]['secret'].update(defaultMode=0o644),
    lambda o: _worker(o)['resources'].pop('limits'),
    lambda o: _pod(o)['volumes'][0]['emptyDir'].pop('medium'),
    lambda o: _pod(o)['volumes'][0]['emptyDir'].update(sizeLimit='3Gi'),
    lambda o: _worker(o).pop('readinessProbe'),
    lambda o: _replace(_worker(o)['args'], 'drain-timeout-s', 14),
    lambda o: _set(o)['spec'].update(replicas=2),
    lambda o: _set(o)['spec'].update(serviceName='skerry-coordinator'),
    lambda o: _replace(_worker(o)['args'], 'coordinator', 'elsewhere:7443'),
    lambda o: of_kind(o, 'PodDisruptionBudget')[0]['spec'].update(
        maxUnavailable=0),
    _remove_policy,
    lambda o: _policy(o, 'skerry-workers')['ingress'][0].update(
        ports=[{'port': 22}]),
    _second_worker,
    _wide_selector,
    lambda o: _worker(o).update(image='skerry-worker:latest'),
    _spot,
    lambda o: next(boxes(o))[1].update(command=['/bin/sh']),
    lambda o: _worker(o)['ports'].append(
        {'name': 'admin-1', 'containerPort': 9465}),
]
