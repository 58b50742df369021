#!/usr/bin/env python3
"""Turns what gcov measured into LCOV, and joins LCOV files.

Bazel calls it twice: after each test with --coverage_dir, a folder that holds
gcov's JSON, and once at the end with --reports_file, the list of the files
which the first calls wrote. Either way the result goes to --output_file.
"""

import argparse
import collections
import gzip
import json
import os


class Coverage:
    """Hits per line of each source file."""

    def __init__(self):
        self.files = collections.defaultdict(collections.Counter)

    def add_gcov_json(self, path):
        with gzip.open(path) as stream:
            report = json.load(stream)
        for entry in report['files']:
            source = entry['file']
            # Absolute names are system headers; generated code is no one's.
            if source.startswith('/') or '.pb.' in source:
                continue
            hits = self.files[source]
            for line in entry['lines']:
                hits[line['line_number']] += line['count']

    def add_lcov(self, path):
        hits = None
        with open(path, encoding='utf-8') as stream:
            for line in stream:
                kind, _, value = line.strip().partition(':')
                if kind == 'SF':
                    hits = self.files[value]
                elif kind == 'DA':
                    number, count = value.split(',')[:2]
                    hits[int(number)] += int(count)

    def write_lcov(self, path):
        with open(path, 'w', encoding='utf-8') as out:
            for source in sorted(self.files):
                hits = self.files[source]
                if not hits:
                    continue
                out.write(f'SF:{source}\n')
                for number in sorted(hits):
                    out.write(f'DA:{number},{hits[number]}\n')
                covered = sum(1 for count in hits.values() if count)
                out.write(f'LH:{covered}\nLF:{len(hits)}\nend_of_record\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--coverage_dir')
    parser.add_argument('--reports_file')
    parser.add_argument('--output_file', required=True)
    # Bazel passes more, for tools that filter and cache.
    args, _ = parser.parse_known_args()

    coverage = Coverage()
    if args.coverage_dir:
        for folder, _, names in os.walk(args.coverage_dir, followlinks=True):
            for name in sorted(names):
                if name.endswith('.gcov.json.gz'):
                    coverage.add_gcov_json(os.path.join(folder, name))
    if args.reports_file:
        with open(args.reports_file, encoding='utf-8') as listed:
            for path in listed.read().split():
                if path.endswith('.dat') and os.path.exists(path):
                    coverage.add_lcov(path)
    coverage.write_lcov(args.output_file)


if __name__ == '__main__':
    main()
