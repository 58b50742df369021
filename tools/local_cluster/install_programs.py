"""What tools/build does once the packages are there."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from local_cluster import binaries  # noqa: E402


def main(directory):
    built = os.environ.get('PROGRAMS')
    try:
        if built:
            binaries.copy(built, directory)
        else:
            binaries.build_targets(binaries.PROGRAMS, directory)
    except subprocess.CalledProcessError as error:
        print('tools/build: the programs were not built; Bazel says why above',
              file=sys.stderr)
        return error.returncode
    except OSError as error:
        print(f'tools/build: {error.filename}: {error.strerror}',
              file=sys.stderr)
        return 1
    print(f"{directory} has {', '.join(sorted(binaries.PROGRAMS))}")
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
