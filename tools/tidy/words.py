"""Words that may not appear in code, and where."""

import collections
import re

from tools.tidy import layers

Ban = collections.namedtuple('Ban', 'rule pattern advice forbidden_in')


def _everywhere(path):
    return True


def _below_the_io_line(path):
    own = layers.layer(path)
    return own is not None and own <= layers.CORE and not layers.is_test(path)


def _outside_the_clock(path):
    return not layers.inside(path, 'runtime/posix', 'bench',
                             'tests/integration', 'tests/chaos')


def _not_an_adapter(path):
    return layers.layer(path) != layers.ADAPTER


def _in_a_core(path):
    return 'core' in path.split('/') and not layers.is_test(path)


def _in_a_program(path):
    return not (layers.is_test(path) or _below_the_io_line(path)
                or layers.inside(path, 'bench')
                or path.startswith('runtime/posix/mutex.'))


def _ban(rule, pattern, advice, forbidden_in):
    return Ban(rule, re.compile(pattern), advice, forbidden_in)


BANS = [
    _ban('clock',
         r'\babsl::Now\b|\b(system|steady|high_resolution)_clock\b'
         r'|\bgettimeofday\b|\bclock_gettime\b|\bGetCurrentTimeNanos\b'
         r'|\btime\((nullptr|NULL|0)\)',
         'take `Instant now` as an argument; only runtime/posix reads a clock',
         _outside_the_clock),
    _ban('sleep',
         r'\bsleep_(for|until)\b|\bSleepFor\b|\b(usleep|nanosleep)\b'
         r'|(?<![\w.>])sleep\(',
         'wait for the event itself, or arm a timer on the loop',
         _outside_the_clock),
    _ban('thread',
         r'\bstd::(thread|jthread|async|this_thread)\b|\bpthread_\w+',
         'take a caller-supplied executor; nothing below the I/O line starts '
         'a thread', _below_the_io_line),
    _ban('lock',
         r'\babsl::(Mutex|MutexLock|CondVar|Notification)\b'
         r'|\bstd::(\w*mutex|condition_variable\w*|lock_guard|unique_lock)\b',
         'what needs a lock is no pure code; let the loop own the state',
         _below_the_io_line),
    _ban('unchecked-lock',
         r'\babsl::(Mutex|MutexLock|CondVar)\b'
         r'|\bstd::(\w*mutex|condition_variable\w*|\w+_(guard|lock))\b',
         'take runtime::Mutex of runtime/posix/mutex.h, so that clang checks '
         'who holds it', _in_a_program),
    _ban('io',
         r'\bfopen\b|\b[io]?fstream\b|\bstd::(cout|cin|cerr|clog|filesystem)\b'
         r'|(?<![\w.>])::(open|socket|mmap|read|write)\(|\bgetenv\b',
         'take bytes or values; files and sockets belong to runtime/posix or '
         'a shell', _below_the_io_line),
    _ban('log', r'\bspdlog\b|\bABSL_LOG\b|\bLOG\(',
         'return a Status or a reason; the shell logs it',
         _below_the_io_line),
    _ban('random', r'\brandom_device\b|(?<![\w.>])s?rand\(|\bstd::rand\b'
         r'|\babsl::(Insecure)?BitGen\b',
         'take base/random.h with a seed from the caller', _everywhere),
    _ban('hash-order', r'\bunordered_(multi)?(map|set)\b'
         r'|\b(flat|node)_hash_(map|set)\b',
         'use absl::btree_map or absl::btree_set: a core\'s order can be seen',
         _in_a_core),
    _ban('throw', r'\bthrow\b', 'return absl::Status', _everywhere),
    _ban('plaintext', r'\bInsecure(Server|Channel)Credentials\b',
         'ports and channels are made in transport/grpc/credentials.cc alone; '
         'tests take transport/grpc/testing/plaintext.h',
         lambda path: path != 'transport/grpc/credentials.cc'),
    _ban('delete-this', r'\bdelete\s+this\b',
         'let an owner hold it in a unique_ptr', _everywhere),
    _ban('shared-from-this', r'\b(enable_)?shared_from_this\b',
         'make ownership visible: a unique_ptr above, references below',
         _everywhere),
    _ban('const-cast', r'\bconst_cast\b',
         'ask for the non-const thing, or copy it; only adapters meet C '
         'interfaces that leave no choice', _not_an_adapter),
    _ban('using-namespace', r'\busing\s+namespace\b(?!\s+\w+::.*literals)',
         'name what you use', _everywhere),
]

# Third-party headers with a home.
HEADER_BANS = [
    _ban('proto', r'\.pb\.h$|^google/protobuf/|^grpc(pp)?/',
         'messages stop at convert; pass core types',
         lambda path: not layers.may_speak_proto(path)),
    _ban('cuda', r'^(cuda|cublas|cudnn|curand|nccl|nvtx)\w*\.h$',
         'CUDA and NCCL live in */cuda and transport/nccl',
         lambda path: not layers.may_speak_cuda(path)),
    _ban('log', r'^spdlog/', 'return a Status or a reason; the shell logs it',
         _below_the_io_line),
    _ban('clock', r'^(chrono|ctime|time\.h|sys/time\.h)$',
         'use absl::Duration and base/instant.h', _below_the_io_line),
]
