"""The commands of helm that the guide types, over Helm's own library."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [os.path.join(_ROOT, 'tools'), _HERE]

import chart_tools  # noqa: E402


def merged(below, above):
    """Maps are joined; of everything else the later one counts."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{name: merged(below.get(name), value)
                        for name, value in above.items()}}


def main(words):
    tools = chart_tools.Tools()
    command, name, *rest = words
    with tools.helm.Config(kubeconfig_path=os.environ['KUBECONFIG'],
                           namespace='default') as config:
        if command == 'test':
            config.test(name, timeout=120)
            print(f'{name} is tested')
            return 0
        if command == 'uninstall':
            config.uninstall(name)
            print(f'{name} is uninstalled')
            return 0
        values = {}
        chart, *options = rest
        options = iter(options)
        for option in options:
            value = next(options)
            if option == '--values':
                with open(value, encoding='utf-8') as file:
                    values = merged(values, tools.yaml.safe_load(file))
            elif option == '--set':
                values = merged(values, tools.helm.parse_set_string(value))
            else:
                raise ValueError(option)
        change = {'install': config.install, 'upgrade': config.upgrade}
        change[command](chart, name, values)
        print(f'{name}: {command} is done')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
