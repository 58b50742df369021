"""Which files clang looks at, and that it finds what is planted."""

import pathlib
import shutil
import tempfile
import unittest

from tools.ci import clang
from tools.ci import reach


class ClangTest(unittest.TestCase):
    FOUND = {'a/a.cc': {'a/a.h', 'base/x.h'}, 'a/a_test.cc': {'a/a.h'},
             'b/b.cc': {'base/x.h'}, 'c/c.cc': {'b/b.h'}, 'd/d.cc': set()}

    def test_a_changed_header_reaches_what_includes_it(self):
        self.assertEqual(
            clang.rows(self.FOUND, ['a/a.cc', 'base/x.h', 'gone.cc', 'e.py']),
            (['a/a.cc'], ['b/b.cc'], ['a/a_test.cc', 'c/c.cc', 'd/d.cc']))
        self.assertEqual(clang.rows(self.FOUND, []),
                         ([], [], sorted(self.FOUND)))

    def test_no_commit_looks_at_more_than_the_bound_or_at_nothing(self):
        row = clang.rows({f'{i}.cc': set() for i in range(1000)}, [])
        for turn in range(300):
            others = reach.share(row, turn, clang.MOST).others
            self.assertTrue(0 < len(others) <= clang.MOST.others, len(others))

    def test_all_files_of_a_row_have_a_turn(self):
        row = clang.Row([f'c{i}' for i in range(7)], ['i0', 'i1'],
                        [f'o{i}' for i in range(20)])
        turns = [reach.share(row, turn, clang.Row(3, 4, 5))
                 for turn in range(8, 12)]
        for place, files in enumerate(row):
            self.assertEqual({file for turn in turns for file in turn[place]},
                             set(files))
        # What fits has its turn each time.
        self.assertEqual({tuple(turn.includers) for turn in turns},
                         {('i0', 'i1')})

    def test_what_needs_a_toolkit_or_is_in_no_program_has_no_turn(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('a/a.cc', 'a/a.h', 'a/cuda/a.cc', 'research/a.cc'):
                file = pathlib.Path(folder, name)
                file.parent.mkdir(exist_ok=True, parents=True)
                file.write_text('#include <map>\n#include "a/a.h"\n',
                                encoding='utf-8')
            self.assertEqual(clang.sources(pathlib.Path(folder)),
                             {'a/a.cc': {'a/a.h'}})

    PLANTED = {
        'unguarded.cc': """#include "runtime/posix/mutex.h"
class Count {
 public:
  void Add() { ++count_; }

 private:
  skerry::runtime::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
void Use() { Count().Add(); }
""",
        'moved.cc': """#include <string>
#include <utility>
std::string Twice(std::string word) {
  const std::string first = std::move(word);
  return first + word;
}
""",
        'fine.cc': """#include "runtime/posix/mutex.h"
class Count {
 public:
  void Add() {
    const skerry::runtime::MutexLock lock(mutex_);
    ++count_;
  }

 private:
  skerry::runtime::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
void Use() { Count().Add(); }
""",
    }

    @unittest.skipUnless(shutil.which(clang.PROGRAM), clang.PROGRAM)
    def test_finds_an_unguarded_access_and_a_use_after_a_move(self):
        said = []
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.PLANTED.items():
                pathlib.Path(folder, name).write_text(text, encoding='utf-8')
            result = clang.look_at(sorted(self.PLANTED), said.append,
                                   pathlib.Path(folder))
        self.assertEqual((result.passed, result.failed),
                         (1, ['clang: moved.cc', 'clang: unguarded.cc']))
        self.assertIn('[bugprone-use-after-move', said[0])
        self.assertIn('[clang-diagnostic-thread-safety', said[1])


    @unittest.skipUnless(shutil.which(clang.PROGRAM), clang.PROGRAM)
    def test_what_clang_cannot_compile_is_skipped_and_named(self):
        said = []
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'newer.cc').write_text(
                'int Use() { return newer_than_clang; }\n', encoding='utf-8')
            result = clang.look_at(['newer.cc'], said.append,
                                   pathlib.Path(folder))
        self.assertEqual((result.passed, result.failed, result.skipped),
                         (0, [], 1))
        self.assertIn('newer.cc', said[0])


if __name__ == '__main__':
    unittest.main()
