"""What has to be so of the objects for Kubernetes, by number.

docs/deploy.md has the same list. Each rule gets all objects of one rendering
and returns what is wrong, one line each.
"""

import re

_UID = 65532
_SPOT = ('cloud.google.com/gke-spot', 'eks.amazonaws.com/capacityType',
         'kubernetes.azure.com/scalesetpriority')
_UNITS = {'': 1, 'm': 1e-3, **{unit + 'i': 1024 ** power for power, unit in
                               enumerate('KMGT', 1)},
          **{unit: 1000 ** power for power, unit in enumerate('KMGT', 1)}}
RULES = []


def rule(text):
    """The next rule of the list."""
    def add(check):
        RULES.append((text, check))
        return check
    return add


def quantity(text):
    number, unit = re.fullmatch(r'([0-9.]+)(\w*)', str(text)).groups()
    return float(number) * _UNITS[unit]


def of_kind(objects, kind):
    return [one for one in objects if one['kind'] == kind]


def pods(objects):
    """(name, labels, spec) of each pod and each template of one."""
    for one in objects:
        name = f"{one['kind']} {one['metadata']['name']}"
        if one['kind'] == 'Pod':
            yield name, one['metadata']['labels'], one['spec']
        elif one['kind'] == 'StatefulSet':
            template = one['spec']['template']
            yield name, template['metadata']['labels'], template['spec']


def boxes(objects):
    """(name, container, pod) of each container, those of init among them."""
    for name, _, pod in pods(objects):
        for box in pod.get('initContainers', []) + pod['containers']:
            yield f"{name} {box['name']}", box, pod


def workers(objects):
    """(name, container, pod) of each worker."""
    return [found for found in boxes(objects)
            if found[1]['name'].startswith('worker-')]


def flags(box):
    """{flag: value} of a container's arguments."""
    return dict(word[2:].partition('=')[::2] for word in box.get('args', [])
                if word.startswith('--'))


def selects(selector, labels):
    for wanted in selector.get('matchExpressions', []):
        if labels.get(wanted['key']) not in wanted['values']:
            return False
    return all(labels.get(key) == value for key, value in
               selector.get('matchLabels', {}).items())


def volumes(pod, owner):
    """{name: volume}, with what a StatefulSet's claims give."""
    found = {volume['name']: volume for volume in pod.get('volumes', [])}
    for claim in owner.get('spec', {}).get('volumeClaimTemplates', []):
        found[claim['metadata']['name']] = claim
    return found


def owner_of(objects, name):
    return next(one for one in objects
                if f"{one['kind']} {one['metadata']['name']}" == name)


@rule('Every pod runs as user and group 65532, and never as root')
def _(objects):
    for name, _, pod in pods(objects):
        security = pod['securityContext']
        if (security.get('runAsNonRoot') is not True
                or security.get('runAsUser') != _UID
                or security.get('runAsGroup') != _UID):
            yield f'{name}: {security}'
    for name, box, _ in boxes(objects):
        if 'runAsUser' in box['securityContext']:
            yield f'{name} has a user of its own'


@rule('Every pod has the seccomp profile RuntimeDefault')
def _(objects):
    for name, _, pod in pods(objects):
        if pod['securityContext'].get('seccompProfile') != {
                'type': 'RuntimeDefault'}:
            yield name


@rule('No container may gain privileges or has a capability')
def _(objects):
    for name, box, _ in boxes(objects):
        security = box['securityContext']
        if (security.get('allowPrivilegeEscalation') is not False
                or security.get('privileged')
                or security.get('capabilities') != {'drop': ['ALL']}):
            yield f'{name}: {security}'


@rule('The root file system of every container is read-only')
def _(objects):
    for name, box, _ in boxes(objects):
        if box['securityContext'].get('readOnlyRootFilesystem') is not True:
            yield name


@rule('No pod uses a namespace, a path or a port of its node')
def _(objects):
    for name, _, pod in pods(objects):
        if any(pod.get(key) for key in ('hostNetwork', 'hostPID', 'hostIPC')):
            yield name
        if any('hostPath' in volume for volume in pod.get('volumes', [])):
            yield f'{name} has a path of the node'
    for name, box, _ in boxes(objects):
        if any('hostPort' in port for port in box.get('ports', [])):
            yield f'{name} has a port of the node'


@rule('No pod gets the token of a service account')
def _(objects):
    for name, _, pod in pods(objects):
        if pod.get('automountServiceAccountToken') is not False:
            yield name
    for account in of_kind(objects, 'ServiceAccount'):
        if account.get('automountServiceAccountToken') is not False:
            yield account['metadata']['name']


@rule('No argument and no environment variable has a secret: the public pin of '
      'the CA is all that comes from a Secret')
def _(objects):
    for name, box, _ in boxes(objects):
        words = ' '.join(box.get('args', []) + [
            str(one.get('value', '')) for one in box.get('env', [])])
        if re.search(r'[a-z0-9]{6}\.[a-z0-9]{16}|PRIVATE KEY', words):
            yield f'{name}: {words}'
        for one in box.get('env', []):
            reference = one.get('valueFrom', {}).get('secretKeyRef')
            if reference and reference['key'] != 'ca-pin':
                yield f"{name}: {one['name']}"
        if any('secretRef' in one for one in box.get('envFrom', [])):
            yield f'{name}: envFrom'


@rule('No ConfigMap and no Secret is among the objects')
def _(objects):
    for kind in ('ConfigMap', 'Secret'):
        for one in of_kind(objects, kind):
            yield f"{kind} {one['metadata']['name']}"


@rule('Secrets are files that only the group of the daemon reads, mounted '
      'read-only')
def _(objects):
    for name, _, pod in pods(objects):
        secret = {volume['name'] for volume in pod.get('volumes', [])
                  if 'secret' in volume}
        for volume in pod.get('volumes', []):
            if 'secret' in volume and volume['secret'].get(
                    'defaultMode') != 0o440:
                yield f"{name} {volume['name']}"
        for box in pod.get('initContainers', []) + pod['containers']:
            for mount in box.get('volumeMounts', []):
                if mount['name'] in secret and not mount.get('readOnly'):
                    yield f"{name} {box['name']} {mount['name']}"


@rule('Every container requests CPU and memory and has a memory limit')
def _(objects):
    for name, box, _ in boxes(objects):
        resources = box['resources']
        if not ({'cpu', 'memory'} <= set(resources.get('requests', {}))
                and 'memory' in resources.get('limits', {})):
            yield f'{name}: {resources}'


@rule('/dev/shm of a worker is memory with a size, and workers of one pod '
      'share it')
def _(objects):
    for name, box, pod in workers(objects):
        names = [mount['name'] for mount in box['volumeMounts']
                 if mount['mountPath'] == '/dev/shm']
        found = [volume['emptyDir'] for volume in pod['volumes']
                 if [volume['name']] == names]
        if (len(found) != 1 or found[0].get('medium') != 'Memory'
                or 'sizeLimit' not in found[0]):
            yield f'{name}: {found}'


@rule("/dev/shm takes at most half of the memory limit of the pod's workers")
def _(objects):
    for name, _, pod in pods(objects):
        for volume in pod.get('volumes', []):
            if volume['name'] != 'shared-memory':
                continue
            limit = sum(quantity(box['resources']['limits']['memory'])
                        for box in pod['containers'])
            if quantity(volume['emptyDir']['sizeLimit']) > limit / 2:
                yield name


@rule('Every daemon has a startup, a liveness and a readiness probe on its '
      'admin port')
def _(objects):
    for name, _, pod in pods(objects):
        if not name.startswith('StatefulSet'):
            continue
        for box in pod['containers']:
            ports = {port['name'] for port in box['ports']}
            for probe, path in (('startupProbe', '/healthz'),
                                ('livenessProbe', '/healthz'),
                                ('readinessProbe', '/readyz')):
                asked = box.get(probe, {}).get('httpGet', {})
                if (asked.get('path') != path or asked['port'] not in ports
                        or not asked['port'].startswith('admin')):
                    yield f"{name} {box['name']} {probe}"


@rule('A worker drains for at most 10 s, and is killed 3 s after that at the '
      'earliest')
def _(objects):
    for name, box, pod in workers(objects):
        drain = int(flags(box)['drain-timeout-s'])
        if (drain > 10
                or pod['terminationGracePeriodSeconds'] < drain + 3):
            yield f"{name}: {drain}, {pod['terminationGracePeriodSeconds']}"


@rule('The coordinator is one pod with a volume of its own')
def _(objects):
    found = [one for one in of_kind(objects, 'StatefulSet')
             if one['metadata']['labels']['app.kubernetes.io/component']
             == 'coordinator']
    if len(found) != 1 or found[0]['spec']['replicas'] != 1:
        yield f'{len(found)} coordinators'
    for one in found:
        claims = one['spec']['volumeClaimTemplates']
        if [claim['spec']['accessModes'] for claim in claims] != [
                ['ReadWriteOnce']]:
            yield str(claims)


@rule('Every StatefulSet has a headless service that selects its pods')
def _(objects):
    services = {one['metadata']['name']: one['spec']
                for one in of_kind(objects, 'Service')}
    for one in of_kind(objects, 'StatefulSet'):
        spec = services.get(one['spec']['serviceName'], {})
        labels = one['spec']['template']['metadata']['labels']
        if (spec.get('clusterIP') != 'None'
                or not selects({'matchLabels': spec['selector']}, labels)):
            yield one['metadata']['name']


@rule('Workers call the address at which the coordinator is, and it is the one '
      'that the cluster is made with')
def _(objects):
    services = {one['metadata']['name']: one['spec']
                for one in of_kind(objects, 'Service')}
    for name, box, _ in boxes(objects):
        told = flags(box)
        address = told.get('coordinator') or (
            told.get('advertise') if box['name'] == 'init' else None)
        if not address:
            continue
        service = services.get(address.split('.')[0], {})
        if (service.get('clusterIP') == 'None'
                or [port['port'] for port in service.get('ports', [])]
                != [int(address.rsplit(':')[-1])]
                or service['selector'].get('app.kubernetes.io/component')
                != 'coordinator'):
            yield f'{name}: {address}'


@rule('Every daemon is in one PodDisruptionBudget, and none holds a node for '
      'ever')
def _(objects):
    budgets = of_kind(objects, 'PodDisruptionBudget')
    for one in of_kind(objects, 'StatefulSet'):
        labels = one['spec']['template']['metadata']['labels']
        if sum(selects(budget['spec']['selector'], labels)
               for budget in budgets) != 1:
            yield one['metadata']['name']
    for budget in budgets:
        if (budget['spec'].get('maxUnavailable') in (0, '0', '0%', None)
                or 'minAvailable' in budget['spec']):
            yield str(budget['spec'])


@rule('Where there are network policies, every pod is closed in both '
      'directions but for what is listed')
def _(objects):
    policies = of_kind(objects, 'NetworkPolicy')
    if not policies:
        return
    for name, labels, _ in pods(objects):
        for way in ('Ingress', 'Egress'):
            if not any(selects(one['spec']['podSelector'], labels)
                       and way in one['spec']['policyTypes']
                       for one in policies):
                yield f'{name}: {way}'
    for one in policies:
        for entry in one['spec'].get('ingress', []):
            if not entry.get('from'):
                yield f"{one['metadata']['name']} lets everybody in"


@rule('Network policies open 7443 of the coordinator, 7444 to 7459 of workers, '
      'and admin ports to named peers alone')
def _(objects):
    for one in of_kind(objects, 'NetworkPolicy'):
        component = one['spec']['podSelector'].get('matchLabels', {}).get(
            'app.kubernetes.io/component')
        allowed = {'coordinator': ({7443}, {9464}),
                   'worker': (set(range(7444, 7460)),
                              set(range(9464, 9480)))}.get(component)
        for entry in one['spec'].get('ingress', []):
            for port in entry.get('ports', [{'port': 0}]):
                opened = set(range(port['port'], port.get(
                    'endPort', port['port']) + 1))
                mine = any('matchLabels' in peer.get('podSelector', {})
                           and 'namespaceSelector' not in peer
                           for peer in entry['from'])
                if allowed is None or not (
                        opened <= allowed[0]
                        or (opened <= allowed[1] and not mine)):
                    yield f"{one['metadata']['name']}: {port}"


@rule('Workers of one pod differ in name, ports and folder, and each '
      'advertises the port that it listens on')
def _(objects):
    seen = set()
    for name, box, _ in workers(objects):
        told = flags(box)
        port = told['listen'].rsplit(':')[-1]
        if told['advertise'] != f'$(POD_IP):{port}':
            yield f"{name}: {told['advertise']}"
        folder = next(mount.get('subPath') for mount in box['volumeMounts']
                      if mount['mountPath'] == '/var/lib/skerry')
        pod = name.rsplit(' ', 1)[0]
        for what in (told['name'], f'port {port}', told['admin'], folder):
            if (pod, what) in seen:
                yield f'{name}: {what} twice'
            seen.add((pod, what))


@rule('No selector takes pods of another StatefulSet, and every mount has its '
      'volume')
def _(objects):
    sets = of_kind(objects, 'StatefulSet')
    for one in sets:
        for other in sets:
            taken = selects(one['spec']['selector'],
                            other['spec']['template']['metadata']['labels'])
            if taken != (one is other):
                yield f"{one['metadata']['name']} {other['metadata']['name']}"
    for name, _, pod in pods(objects):
        there = set(volumes(pod, owner_of(objects, name)))
        for box in pod.get('initContainers', []) + pod['containers']:
            for mount in box.get('volumeMounts', []):
                if mount['name'] not in there:
                    yield f"{name} {box['name']}: {mount['name']}"


@rule('Every image has a tag or digest that is not "latest", and a pull policy')
def _(objects):
    for name, box, _ in boxes(objects):
        last = box['image'].rsplit('/', 1)[-1]
        if (':' not in last and '@' not in last) or last.endswith(':latest'):
            yield f"{name}: {box['image']}"
        if 'imagePullPolicy' not in box:
            yield f'{name}: no pull policy'


@rule('The coordinator stands no taint of spot nodes, and keeps off them where '
      'workers look for them')
def _(objects):
    def asks_for(pod, operators):
        terms = pod.get('affinity', {}).get('nodeAffinity', {}).get(
            'requiredDuringSchedulingIgnoredDuringExecution', {}).get(
                'nodeSelectorTerms', [])
        return {wanted['key'] for term in terms
                for wanted in term['matchExpressions']
                if wanted['operator'] in operators}
    looked_for = set()
    for _, labels, pod in pods(objects):
        if labels['app.kubernetes.io/component'] == 'worker':
            looked_for |= asks_for(pod, ('In',)) & set(_SPOT)
    for name, labels, pod in pods(objects):
        if labels['app.kubernetes.io/component'] != 'coordinator':
            continue
        if any(one.get('key') in (*_SPOT, None)
               for one in pod.get('tolerations', [])):
            yield f'{name} stands a taint'
        if not looked_for <= asks_for(pod, ('NotIn', 'DoesNotExist')):
            yield f'{name} may come to a spot node'


@rule("The image's own entry point runs: no container has a command or a hook, "
      'so that SIGTERM comes to the daemon')
def _(objects):
    for name, box, pod in boxes(objects):
        if 'command' in box or 'lifecycle' in box:
            yield name
        if pod.get('shareProcessNamespace'):
            yield f'{name} shares processes'


@rule('Every admin port has a port in a headless service of its pods, and '
      'where there are monitors, one of them asks it')
def _(objects):
    services = [one['spec'] for one in of_kind(objects, 'Service')
                if one['spec'].get('clusterIP') == 'None']
    monitors = [one['spec'] for one in of_kind(objects, 'ServiceMonitor')]
    for name, labels, pod in pods(objects):
        served = {port['targetPort']: port['name'] for service in services
                  if selects({'matchLabels': service['selector']}, labels)
                  for port in service['ports']}
        asked = {end['port'] for monitor in monitors
                 if selects({'matchLabels': {
                     'app.kubernetes.io/component':
                         labels['app.kubernetes.io/component']}},
                     monitor['selector']['matchLabels'])
                 for end in monitor['endpoints']}
        for box in pod['containers']:
            for port in box.get('ports', []):
                if not port['name'].startswith('admin'):
                    continue
                if port['name'] not in served:
                    yield f"{name}: no service has {port['name']}"
                elif monitors and served[port['name']] not in asked:
                    yield f"{name}: no monitor asks {port['name']}"
