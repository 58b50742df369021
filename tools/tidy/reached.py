"""Which libraries some program is linked from, as BUILD files say.

A library that only its own test calls is no part of the product. Programs are
the binaries outside tests, benches and research.
"""

import ast
import posixpath

_ASIDE = ('tests', 'bench', 'research', 'third_party')
# Twins are linked when CUDA is, by the codec that chooses them.
_TWINS = 'cuda'


class Target:

    def __init__(self, package, kind, fields, line):
        self.package, self.kind, self.line = package, kind, line
        self.name = fields.get('name', '')
        self.deps = fields.get('deps', [])
        self.testonly = fields.get('testonly', False)

    @property
    def label(self):
        return f'//{self.package}:{self.name}'


def _strings(node):
    """Every text in an expression: select() and sums name deps too."""
    return [part.value for part in ast.walk(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def targets(package, text):
    """The rules of a BUILD file that are written out in it."""
    testonly = False
    found = []
    for statement in ast.parse(text).body:
        if not (isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Call)
                and isinstance(statement.value.func, ast.Name)):
            continue
        call = statement.value
        fields = {}
        for keyword in call.keywords:
            if keyword.arg in ('deps', 'malloc', 'data', 'srcs', 'entry'):
                fields.setdefault('deps', []).extend(_strings(keyword.value))
            elif isinstance(keyword.value, ast.Constant):
                fields[keyword.arg] = keyword.value.value
        if call.func.id == 'package':
            testonly = bool(fields.get('default_testonly'))
            continue
        fields.setdefault('testonly', testonly)
        found.append(Target(package, call.func.id, fields, call.lineno))
    return found


def _absolute(label, package):
    if label.startswith(':'):
        return f'//{package}{label}'
    if not label.startswith('//'):
        return ''
    if ':' in label:
        return label
    return f'{label}:{posixpath.basename(label)}'


def unreached(builds):
    """Targets that no program links; `builds` has BUILD files by package."""
    everything = [target for package, text in sorted(builds.items())
                  for target in targets(package, text)]
    by_label = {target.label: target for target in everything}
    waiting = [target for target in everything
               if target.kind.endswith('binary') and not target.testonly
               and target.package.split('/')[0] not in _ASIDE]
    reached = set()
    while waiting:
        target = waiting.pop()
        if target.label in reached:
            continue
        reached.add(target.label)
        for label in target.deps:
            other = by_label.get(_absolute(label, target.package))
            if other is not None:
                waiting.append(other)
    return [target for target in everything
            if target.kind == 'cc_library' and not target.testonly
            and target.label not in reached
            and not target.name.endswith('_testutil')
            and target.package.split('/')[0] not in _ASIDE
            and not {'testing', _TWINS} & set(target.package.split('/'))]
