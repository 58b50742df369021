"""Each rule is shown red on the smallest offender and green on its cure."""

import unittest

from tools.tidy import cpp
from tools.tidy import prose
from tools.tidy import reached
from tools.tidy import rules
from tools.tidy import tidy


def found(rule, files):
    return [(f.path, f.line, f.rule) for f in rule(rules.Tree(files))]


class CppTest(unittest.TestCase):

    def test_strip_blanks_comments_and_literals_and_keeps_positions(self):
        text = 'int a; // throw\n/* throw\n */ f("throw\\"", \'"\', 1\'000);'
        code = cpp.strip(text)
        self.assertEqual(len(code), len(text))
        self.assertEqual(code.count('\n'), 2)
        self.assertNotIn('throw', code)
        self.assertIn("1'000", code)

    def test_strip_reads_raw_strings(self):
        self.assertNotIn('throw', cpp.strip('x = R"js(a ")" throw)js"; y;'))

    def test_includes_ignores_commented_ones(self):
        text = '// #include "a.h"\n#include "b/c.h"\n#include <vector>\n'
        self.assertEqual(cpp.includes(text),
                         [(2, 'b/c.h', True), (3, 'vector', False)])

    def lengths(self, text):
        return {name: count for _, name, count in cpp.functions(text)}

    def test_function_lengths(self):
        text = '''
namespace a {
struct S {
  S() : x_{1}, y_(2) {
    f();
  }
  int One() const { return 1; }
  int x_{0};
  std::vector<int> v = {1, 2};
};
enum class E { kA };
const int kTable[] = {
  1,
  2,
};
template <class T>
auto Two(T t)
    -> int {
  auto l = [&] { return 1; };
  if (t) {
    g({1});
  }
  return l();
}
TEST(SuiteTest, Claim) {
}
struct S Make() {
  return {};
}
class ABSL_LOCKABLE Lock {
  void Take() {
  }
};
}  // namespace a
'''
        self.assertEqual(self.lengths(text), {
            'S': 3, 'One': 1, 'Two': 9, 'SuiteTest.Claim': 2, 'Make': 3,
            'Take': 2})

    def test_member_initializers_over_several_lines_are_one_function(self):
        text = ('A::A(int x)\n    : a_{x},\n      b_{x} {\n  f();\n}\n'
                'void B() {}\n')
        self.assertEqual(self.lengths(text), {'A::A': 5, 'B': 1})

    def test_directives_do_not_unbalance(self):
        text = '#define OPEN \\\n  {\nvoid F() {\n}\nvoid G() {\n\n}\n'
        self.assertEqual(self.lengths(text), {'F': 2, 'G': 3})


class ReachedTest(unittest.TestCase):
    PROGRAM = ('cc_binary(name = "skerry", deps = [":main", "//job"])\n'
               'cc_library(name = "main", deps = select({"//:gpu": '
               '["//model/cuda:x"], "//conditions:default": []}))\n')

    def names(self, **more):
        builds = {'cli': self.PROGRAM, 'job': 'cc_library(name = "job")\n',
                  **more}
        return [target.label for target in reached.unreached(builds)]

    def test_what_a_program_links_is_reached(self):
        self.assertEqual(self.names(), [])

    def test_what_only_its_test_calls_is_not(self):
        planner = ('cc_library(name = "deadline")\n'
                   'cc_test(name = "deadline_test", deps = [":deadline"])\n')
        self.assertEqual(self.names(planner=planner), ['//planner:deadline'])

    def test_code_for_tests_needs_no_program(self):
        only = 'package(default_testonly = True)\ncc_library(name = "fake")\n'
        self.assertEqual(self.names(fakes=only), [])

    def test_a_bench_is_no_program(self):
        bench = 'cc_binary(name = "bench", deps = ["//planner:deadline"])\n'
        self.assertEqual(
            self.names(bench=bench, planner='cc_library(name = "deadline")\n'),
            ['//planner:deadline'])


class ProseTest(unittest.TestCase):

    def test_sentences_end_at_stops_paragraphs_and_list_items(self):
        self.assertEqual(
            list(prose.sentences('# A title\n\nOne two. Three\nfour (five.) '
                                 'Six:\n- seven\n  eight\n1. nine\n')),
            [(3, 2), (3, 3), (4, 1), (5, 2), (7, 1)])

    def test_code_and_tables_are_no_sentences(self):
        self.assertEqual(
            list(prose.sentences('```\na b\n```\n| c | d |\n\n    e f\n')),
            [])

    def test_a_code_span_is_a_word_and_a_link_is_its_text(self):
        self.assertEqual(
            list(prose.sentences('Run `a b\nc. d` as [the page](x.md#y) '
                                 'says.\nThen stop.\n')),
            [(1, 6), (3, 2)])


class RulesTest(unittest.TestCase):

    def red_and_green(self, rule, path, red, green, name, **others):
        self.assertEqual([(p, r) for p, _, r in
                          found(rule, {path: red, **others})],
                         [(path, name)], red)
        self.assertEqual(found(rule, {path: green, **others}), [], green)

    def test_include_direction(self):
        self.red_and_green(
            rules.include_direction, 'data/a.cc', '#include "model/b.h"\n',
            '#include "base/b.h"\n', 'layers',
            **{'model/b.h': '', 'base/b.h': ''})
        self.red_and_green(
            rules.include_direction, 'data/a.cc', '#include "b.h"\n',
            '#include "data/b.h"\n', 'include-path', **{'data/b.h': ''})

    def test_messages_stop_at_convert(self):
        for header in ('proto/skerry/v1/a.pb.h', 'proto/a.grpc.pb.h',
                       'grpcpp/grpcpp.h', 'google/protobuf/message.h'):
            text = f'#include "{header}"\n'
            for path, bad in [('coordinator/core/a.cc', True),
                              ('transport/link.h', True),
                              ('transport/grpc/a.cc', False),
                              ('coordinator/convert/a.cc', False),
                              ('worker/daemon/a.cc', False),
                              ('cli/a.cc', False),
                              ('data/a_test.cc', False)]:
                self.assertEqual(
                    bool(found(rules.include_direction, {path: text})), bad,
                    (path, header))

    def test_cuda_has_its_folders(self):
        self.red_and_green(rules.include_direction, 'worker/daemon/a.cc',
                           '#include <cuda_runtime.h>\n', '', 'cuda')
        self.assertEqual(found(rules.include_direction, {
            'transport/nccl/a.cc': '#include <nccl.h>\n'}), [])

    def test_words_below_the_io_line(self):
        for red, name in [
                ('auto t = absl::Now();', 'clock'),
                ('std::chrono::steady_clock::now();', 'clock'),
                ('std::thread t(f);', 'thread'),
                ('absl::Mutex mu;', 'lock'),
                ('std::mutex mu;', 'lock'),
                ('FILE* f = fopen(p, m);', 'io'),
                ('std::ofstream out(p);', 'io'),
                ('spdlog::info(1);', 'log'),
                ('std::random_device d;', 'random'),
                ('absl::flat_hash_map<int, int> m;', 'hash-order'),
                ('absl::SleepFor(d);', 'sleep')]:
            self.red_and_green(rules.forbidden_words, 'worker/core/a.cc', red,
                               '// ' + red, name)

    def test_words_everywhere(self):
        for red, name in [('throw 1;', 'throw'),
                          ('grpc::InsecureChannelCredentials();', 'plaintext'),
                          ('grpc::InsecureServerCredentials();', 'plaintext'),
                          ('delete this;', 'delete-this'),
                          ('std::mutex mu;', 'unchecked-lock'),
                          ('std::scoped_lock l;', 'unchecked-lock'),
                          ('absl::MutexLock l(&mu);', 'unchecked-lock'),
                          ('shared_from_this();', 'shared-from-this'),
                          ('const_cast<int&>(x);', 'const-cast'),
                          ('using namespace std;', 'using-namespace')]:
            self.red_and_green(rules.forbidden_words, 'worker/daemon/a.cc',
                               red, f'f("{red}");', name)

    def test_only_posix_reads_a_clock_and_shells_may_lock(self):
        now = 'auto t = std::chrono::steady_clock::now();\nruntime::Mutex m;\n'
        self.assertEqual(found(rules.forbidden_words,
                               {'runtime/posix/clock.cc': now}), [])
        self.assertEqual(found(rules.forbidden_words,
                               {'worker/daemon/clock.cc': now}),
                         [('worker/daemon/clock.cc', 1, 'clock')])

    def test_guards(self):
        guard = 'SKERRY_BASE_A_B_H_'
        good = f'#ifndef {guard}\n#define {guard}\n#endif  // {guard}\n'
        self.red_and_green(rules.header_guards, 'base/a_b.h',
                           good.replace('A_B', 'AB'), good, 'guard')
        self.red_and_green(rules.header_guards, 'base/a_b.h',
                           good.replace(f'  // {guard}', ''), good, 'guard')

    def test_header_comments(self):
        self.red_and_green(rules.header_comments, 'base/a.h',
                           '// base/a.h\n#ifndef X\n',
                           '// base/a.h\n//\n// Ids.\n#ifndef X\n',
                           'header-comment')

    def test_no_comment_opens_with_of(self):
        for path, red, green in [
                ('base/a.h', '// Of each span.', '// Hash of each span.'),
                ('base/a.cc', 'int a;  // Of a job.', 'int a;  // of a job'),
                ('base/a.cc', '/* Of it. */', 'auto s = R"(// Of it.)";'),
                ('model/cuda/a.cu', '/**\n * Of it.\n */', '// Often.'),
                ('proto/a.proto', 'int64 a = 1;  // Of it.', '// Offers.'),
                ('tools/a.py', 'a = 1  # Of it.', 'a = "# Of it."'),
                ('tests/a', '#!/usr/bin/env python3\n# Of it.\n',
                 '#!/usr/bin/env python3\na = """\n# Of it.\n"""\n'),
                ('base/BUILD', '# Of it.', '# The targets of it.'),
                ('tools/a.bzl', '    # Of it.', "a = '# Of it.'")]:
            self.red_and_green(rules.comment_openings, path, red, green,
                               'comment-opening')
        self.assertEqual(
            found(rules.comment_openings,
                  {'base/a.cc': 'auto s = "// Of";\n// What\n// Of it.\n'}),
            [('base/a.cc', 3, 'comment-opening')])

    def test_other_files_may_have_lines_that_open_with_of(self):
        self.assertEqual(
            found(rules.comment_openings,
                  {'docs/a.md': '# Of\n', 'a.yaml': '# Of it.\n',
                   'third_party/a.h': '// Of it.\n'}), [])

    def test_sizes(self):
        self.red_and_green(rules.sizes, 'base/a.h', 'x\n' * 301, 'x\n' * 300,
                           'file-length')
        self.red_and_green(rules.sizes, 'base/a.cc', 'x\n' * 501, 'x\n' * 500,
                           'file-length')
        self.red_and_green(rules.sizes, 'base/a.cc', 'x' * 81, 'x' * 80,
                           'columns')

    def test_function_lengths(self):
        self.red_and_green(rules.function_lengths, 'base/a.cc',
                           'void F() {\n' + '  g();\n' * 69 + '}\n',
                           'void F() {\n' + '  g();\n' * 68 + '}\n',
                           'function-length')

    def test_tests_stand_beside_pure_code(self):
        lonely = {'data/a.cc': ''}
        self.assertEqual(found(rules.tests_beside, lonely),
                         [('data/a.cc', 1, 'test-beside')])
        self.assertEqual(found(rules.tests_beside,
                               {**lonely, 'data/a_test.cc': ''}), [])
        self.assertEqual(found(rules.tests_beside, {'cli/a.cc': ''}), [])
        self.assertEqual(
            found(rules.tests_beside, {'compression/cpu/a.cc': '',
                                       'compression/a_test.cc': ''}), [])

    def test_parts_of_a_tested_class_need_no_test_of_their_own(self):
        tree = {'data/whole_test.cc': '#include "data/whole.h"\n',
                'data/whole.h': '', 'data/whole.cc': '#include "data/part.h"\n',
                'data/part.h': '', 'data/part.cc': ''}
        self.assertEqual(found(rules.tests_beside, tree), [])
        tree['data/whole.cc'] = ''
        self.assertEqual(found(rules.tests_beside, tree),
                         [('data/part.cc', 1, 'test-beside')])

    def test_kernels_have_a_reference_twin(self):
        kernel = {'model/cuda/norm.cu': ''}
        self.assertEqual(found(rules.kernel_twins, kernel),
                         [('model/cuda/norm.cu', 1, 'twin')])
        self.assertEqual(found(rules.kernel_twins,
                               {**kernel, 'model/cpu/norm.cc': ''}), [])

    def test_unfinished(self):
        mark = 'TO' 'DO'
        self.red_and_green(rules.unfinished, 'docs/a.md', f'{mark}: later',
                           'To do is done.', 'unfinished')

    def test_documents_show_pictures(self):
        page = {'docs/a.md': '# A\n![a picture](a.png)\n'}
        self.assertEqual(list(rules.documents(
            rules.Tree(page, data=['docs/a.png']))), [])
        self.assertEqual(found(rules.documents, page),
                         [('docs/a.md', 2, 'link')])

    def test_documents(self):
        self.red_and_green(rules.documents, 'docs/a.md', '# A\n# B\n',
                           '# A\n```\n# no title\n```\n', 'one-title')
        self.red_and_green(rules.documents, 'docs/a.md',
                           '# A\n[b](b.md)\n',
                           '# A\n[x](../base/x.h) [y](https://y) [z](#z) '
                           '[base](../base)\n',
                           'link', **{'base/x.h': ''})

    def test_bounded_arguments(self):
        # Spelled in halves, so that this file passes the rule.
        bare, bounded = 'type=' 'int', 'type=flags.whole(1, 9)'
        for path, head in (('a/x.py', ''), ('a/x', '#!/usr/bin/env python3\n')):
            self.red_and_green(rules.bounded_arguments, path, head + bare,
                               head + bounded, 'bounded-arguments')
        self.assertEqual(found(rules.bounded_arguments, {'a/x.md': bare}), [])

    def test_long_sentences(self):
        short, long = 'word ' * 39 + 'end.', 'word ' * 40 + 'end.'
        for page in ('README.md', 'docs/a.md', 'docs/formats/a.md'):
            self.red_and_green(rules.long_sentences, page,
                               f'# A\n{short}\n{long}\n',
                               f'# A\n{short}\n{short}\n', 'long-sentence')
        self.assertEqual(
            found(rules.long_sentences, {'base/a.md': long}), [])

    def test_folders_on_the_map(self):
        files = {'a/x.cc': '', 'b/c/y.cc': '', '.ci/run': ''}
        self.assertEqual(
            found(rules.folders_on_the_map,
                  {**files, 'README.md': '`a/` and b', 'BUILD': ''}),
            [('README.md', 1, 'map')])
        self.assertEqual(
            found(rules.folders_on_the_map,
                  {**files, 'README.md': '`a/`, `b/c`',
                   'docs/architecture.md': '`b`, `a/{x,y}`, `docs`'}),
            [('README.md', 1, 'map')])
        self.assertEqual(
            found(rules.folders_on_the_map,
                  {**files, 'README.md': '`a`, `b/c/`'}), [])

    def test_code_that_pages_name(self):
        code = {'base/a.cc': 'void Go() {}\n'}
        for line, wrong in [
                ('Read `base/a.cc`.', 0), ('`base/a.cc` goes (`Go`).', 0),
                ('Read `base/b.cc`.', 1), ('`base/a.cc` goes (`Go`, `Do`).', 1),
                ('`base/a.cc` is all. A test (`Do`) says so.', 0)]:
            self.assertEqual(
                found(rules.code_that_pages_name, {**code, 'docs/a.md': line}),
                [('docs/a.md', 1, 'named-code')] * wrong, line)
        self.assertEqual(
            found(rules.code_that_pages_name, {'CHANGELOG.md': '`base/b.cc`'}),
            [])

    def test_events_on_a_page(self):
        code = 'Log(Severity::kInfo, "worker.up",\n    {});\n'
        self.red_and_green(rules.events_on_a_page, 'worker/a.cc',
                           code.replace('.up', '.gone'), code, 'event',
                           **{'docs/worker.md': '| `worker.up` | info |'})
        self.assertEqual(
            found(rules.events_on_a_page, {'worker/a_test.cc': code}), [])

    def test_types_defined_twice(self):
        one = ('struct Part {\n  int a = 0;  // of it\n  int b = 0;\n'
               '  int c = 0;\n};\n')
        for other, wrong in [
                (one, 1), (one.replace('b = 0', 'b = 1'), 1),
                (one.replace('int', 'long'), 0),
                (one.replace('Part', 'Whole'), 0)]:
            self.assertEqual(
                found(rules.types_defined_twice,
                      {'base/a.h': one, 'worker/core/b.h': other}),
                [('worker/core/b.h', 1, 'defined-twice')] * wrong, other)
        enum = 'enum class Kind { kOne, kTwo };\n'
        self.assertEqual(
            found(rules.types_defined_twice,
                  {'base/a.h': enum, 'data/b.h': 'int x;\n' + enum}),
            [('data/b.h', 2, 'defined-twice')])
        # What only tests see, and what a source file has for itself.
        self.assertEqual(
            found(rules.types_defined_twice,
                  {'base/a.h': one, 'data/testing/b.h': one, 'data/c.cc': one}),
            [])

    def test_packages_name_their_users(self):
        self.red_and_green(
            rules.visible_to_all, 'base/BUILD',
            'package(default_visibility = ["//visibility:public"])\n',
            'package(default_visibility = ["//:__subpackages__"])\n',
            'visibility')

    def test_dead_files(self):
        self.assertEqual(found(rules.dead_files, {'base/sub/a.cc': '',
                                                  'base/BUILD': ''}),
                         [('base/sub/a.cc', 1, 'dead-file')])
        self.assertEqual(found(rules.dead_files,
                               {'base/sub/a.cc': '',
                                'base/BUILD': 'srcs = ["sub/a.cc"]'}), [])
        self.assertEqual(found(rules.dead_files,
                               {'base/a.h': '',
                                'base/BUILD': 'glob(["*.h"])'}), [])

    def test_python_targets(self):
        self.red_and_green(rules.python_targets, 'tools/BUILD',
                           'py_test(\n', 'skerry_py_test(\n',
                           'python-target')


class AllowListTest(unittest.TestCase):

    def test_excuses_what_it_names_and_nothing_else(self):
        findings = [rules.Finding('a.cc', 1, 'throw', ''),
                    rules.Finding('a.cc', 2, 'io', '')]
        kept = tidy.apply_allow_list(findings, '# why\na.cc throw because\n')
        self.assertEqual([f.rule for f in kept], ['io'])

    def test_idle_and_unexplained_entries_are_findings(self):
        kept = tidy.apply_allow_list([], 'a.cc throw because\nb.cc io\n')
        self.assertEqual([(f.line, f.rule) for f in kept],
                         [(1, 'allow-list'), (2, 'allow-list')])


if __name__ == '__main__':
    unittest.main()
