#include "transport/shm/shm_group.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::transport {
namespace {

// 256 KiB: a chunk of each rank stays in its core's second-level cache.
constexpr size_t kChunkElements = 65536;
constexpr size_t kHalfBytes = kChunkElements * sizeof(float) / 2;
constexpr uint64_t kLayoutVersion = 2;
// Members of one step finish close together, so a look or two before the
// kernel is asked is worth its price; more would take cores from the others.
constexpr int kSpins = 200;
constexpr size_t kCacheLineElements = 16;

enum CallKind : uint32_t {
  kBarrier = 1,
  kAllReduce = 2,
  kBroadcast = 3,
  kAllToAll = 4,
  kAllGather = 5,
};

absl::Status AbortedGroup() {
  return absl::AbortedError("the island's group was aborted");
}

absl::Status ValidateOptions(const ShmGroupOptions& options) {
  const std::string& name = options.name;
  if (name.size() < 2 || name.size() > 200 || name[0] != '/' ||
      name.find('/', 1) != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the group's shared memory needs a name like /name, not '", name, "'"));
  }
  if (options.size < 1 || options.size > kShmGroupRanksMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group has 1 to ", kShmGroupRanksMax, " members, not ",
                     options.size));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", options.rank, " is not in a group of ", options.size));
  }
  if (options.timeout <= absl::ZeroDuration() ||
      options.timeout > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        "the group's timeout must be above 0 and at most a day");
  }
  return absl::OkStatus();
}

absl::Status MachineError(absl::string_view what, const std::string& name,
                          int error) {
  const std::string text =
      absl::StrCat(what, " shared memory ", name, ": ", strerror(error));
  return error == ENOSPC || error == ENOMEM ? absl::ResourceExhaustedError(text)
                                            : absl::InternalError(text);
}

// The part of a chunk that one rank adds up.
std::span<float> Part(std::span<float> chunk, int rank, int size) {
  const size_t lines =
      (chunk.size() + kCacheLineElements - 1) / kCacheLineElements;
  const auto edge = [&](int r) {
    return std::min(chunk.size(), lines * static_cast<size_t>(r) /
                                      static_cast<size_t>(size) *
                                      kCacheLineElements);
  };
  return chunk.subspan(edge(rank), edge(rank + 1) - edge(rank));
}

}  // namespace

struct ShmGroup::Call {
  uint32_t kind = 0;
  uint32_t root = 0;
  uint64_t count = 0;
  friend bool operator==(const Call&, const Call&) = default;
};

// Zero bytes are its valid first state, so nobody has to wait for a creator.
struct ShmGroup::Segment {
  struct alignas(64) Slot {
    Call call;
  };

  // Version and size of the group, set by whoever comes first.
  std::atomic<uint64_t> shape;
  std::atomic<uint32_t> aborted;
  std::atomic<uint32_t> taken[kShmGroupRanksMax];
  alignas(64) std::atomic<uint32_t> arrived;
  // Counts meetings; what members wait for. An abort moves it too.
  alignas(64) std::atomic<uint32_t> generation;
  // By parity of the call: a member may write its next call while another
  // still reads this one, but nobody is two calls ahead.
  Slot calls[2][kShmGroupRanksMax];
  alignas(4096) float staging[1];

  static size_t BytesFor(int size) {
    return sizeof(Segment) +
           static_cast<size_t>(size + 1) * kChunkElements * sizeof(float);
  }
};

absl::StatusOr<std::unique_ptr<ShmGroup>> ShmGroup::Open(
    const ShmGroupOptions& options) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  const int fd = shm_open(options.name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);
  if (fd < 0) return MachineError("cannot open", options.name, errno);
  const absl::Cleanup close_fd = [fd] { close(fd); };
  // Unlike ftruncate this never shrinks what another member uses, and takes
  // the memory now instead of a bus error later.
  const off_t bytes = static_cast<off_t>(Segment::BytesFor(options.size));
  if (const int error = posix_fallocate(fd, 0, bytes); error != 0) {
    shm_unlink(options.name.c_str());
    return MachineError("cannot size", options.name, error);
  }
  void* memory = mmap(nullptr, static_cast<size_t>(bytes),
                      PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return MachineError("cannot map", options.name, errno);
  }
  std::unique_ptr<ShmGroup> group(new ShmGroup(options, memory));
  Segment& segment = *group->segment_;
  const uint64_t shape =
      kLayoutVersion << 32 | static_cast<uint32_t>(options.size);
  uint64_t found = 0;
  if (!segment.shape.compare_exchange_strong(found, shape) && found != shape) {
    group->name_removed_ = true;  // It is not ours to remove.
    return absl::InvalidArgumentError(
        absl::StrCat("the group ", options.name, " has ", found & 0xffffffff,
                     " members, not ", options.size));
  }
  if (segment.taken[options.rank].exchange(1) != 0) {
    group->name_removed_ = true;
    return absl::AlreadyExistsError(absl::StrCat(
        "rank ", options.rank, " of the group ", options.name, " is taken"));
  }
  return group;
}

ShmGroup::ShmGroup(const ShmGroupOptions& options, void* memory)
    : options_(options), segment_(static_cast<Segment*>(memory)) {}

ShmGroup::~ShmGroup() {
  RemoveName();
  munmap(segment_, Segment::BytesFor(options_.size));
}

void ShmGroup::RemoveName() {
  if (name_removed_) return;
  shm_unlink(options_.name.c_str());
  name_removed_ = true;
}

float* ShmGroup::Area(int index) const {
  return segment_->staging + static_cast<size_t>(index) * kChunkElements;
}

std::byte* ShmGroup::Half(int rank, size_t turn) const {
  return reinterpret_cast<std::byte*>(Area(rank)) + turn * kHalfBytes;
}

absl::Status ShmGroup::Refuse(absl::string_view why) {
  Abort();
  return absl::InvalidArgumentError(why);
}

void ShmGroup::Abort() {
  segment_->aborted.store(1);
  segment_->generation.fetch_add(1);
  runtime::FutexWakeAll(segment_->generation);
}

absl::Status ShmGroup::ArriveAndWait(const runtime::FutexDeadline& deadline) {
  // Read before arriving: afterwards the others may move it at any time.
  const uint32_t generation = segment_->generation.load();
  if (segment_->aborted.load() != 0) return AbortedGroup();
  const uint32_t size = static_cast<uint32_t>(options_.size);
  if (segment_->arrived.fetch_add(1) + 1 == size) {
    segment_->arrived.store(0);
    segment_->generation.fetch_add(1);
    runtime::FutexWakeAll(segment_->generation);
  }
  for (int i = 0; i < kSpins; ++i) {
    if (segment_->generation.load() != generation) break;
  }
  while (segment_->generation.load() == generation) {
    if (!runtime::FutexWait(segment_->generation, generation, deadline)) {
      Abort();
      return absl::DeadlineExceededError(absl::StrCat(
          "a member of the group ", options_.name, " did not arrive within ",
          absl::FormatDuration(options_.timeout)));
    }
  }
  return segment_->aborted.load() != 0 ? AbortedGroup() : absl::OkStatus();
}

absl::Status ShmGroup::Meet(const Call& call) {
  Segment::Slot* slots = segment_->calls[calls_++ & 1];
  slots[options_.rank].call = call;
  SKERRY_RETURN_IF_ERROR(
      ArriveAndWait(runtime::FutexDeadline::After(options_.timeout)));
  // Everyone has mapped the object by now.
  RemoveName();
  for (int rank = 0; rank < options_.size; ++rank) {
    if (slots[rank].call == call) continue;
    Abort();
    return absl::InvalidArgumentError(
        absl::StrCat("ranks ", options_.rank, " and ", rank, " of the group ",
                     options_.name, " called different collectives"));
  }
  return absl::OkStatus();
}

absl::Status ShmGroup::Barrier() { return Meet({.kind = kBarrier}); }

absl::Status ShmGroup::AllReduceSum(std::span<float> values) {
  SKERRY_RETURN_IF_ERROR(Meet({.kind = kAllReduce, .count = values.size()}));
  if (options_.size == 1) return absl::OkStatus();
  while (!values.empty()) {
    const size_t count = std::min(values.size(), kChunkElements);
    SKERRY_RETURN_IF_ERROR(AllReduceChunk(
        values.first(count), runtime::FutexDeadline::After(options_.timeout)));
    values = values.subspan(count);
  }
  return absl::OkStatus();
}

absl::Status ShmGroup::AllReduceChunk(std::span<float> chunk,
                                      const runtime::FutexDeadline& deadline) {
  std::copy(chunk.begin(), chunk.end(), Area(options_.rank));
  SKERRY_RETURN_IF_ERROR(ArriveAndWait(deadline));
  const std::span<float> result(Area(options_.size), chunk.size());
  const std::span<float> part = Part(result, options_.rank, options_.size);
  const size_t offset = static_cast<size_t>(part.data() - result.data());
  std::copy_n(Area(0) + offset, part.size(), part.data());
  for (int rank = 1; rank < options_.size; ++rank) {
    const float* addend = Area(rank) + offset;
    for (size_t i = 0; i < part.size(); ++i) part[i] += addend[i];
  }
  SKERRY_RETURN_IF_ERROR(ArriveAndWait(deadline));
  // The result is next written after the next arrival, by when everyone has
  // taken this one.
  std::copy(result.begin(), result.end(), chunk.begin());
  return absl::OkStatus();
}

absl::Status ShmGroup::Broadcast(std::span<float> values, int root) {
  if (root < 0 || root >= options_.size) {
    return Refuse(
        absl::StrCat("root ", root, " is not in a group of ", options_.size));
  }
  SKERRY_RETURN_IF_ERROR(Meet({.kind = kBroadcast,
                               .root = static_cast<uint32_t>(root),
                               .count = values.size()}));
  if (options_.size == 1) return absl::OkStatus();
  // Two areas in turn: the root fills one while the others empty the other.
  for (int turn = 0; !values.empty(); turn ^= 1) {
    const std::span<float> chunk =
        values.first(std::min(values.size(), kChunkElements));
    if (options_.rank == root)
      std::copy(chunk.begin(), chunk.end(), Area(turn));
    SKERRY_RETURN_IF_ERROR(
        ArriveAndWait(runtime::FutexDeadline::After(options_.timeout)));
    if (options_.rank != root) {
      std::copy_n(Area(turn), chunk.size(), chunk.begin());
    }
    values = values.subspan(chunk.size());
  }
  return absl::OkStatus();
}

absl::Status ShmGroup::AllToAll(std::span<const std::byte> to,
                                std::span<std::byte> from) {
  const auto ranks = static_cast<size_t>(options_.size);
  if (to.size() != from.size() || to.size() % ranks != 0) {
    return Refuse(absl::StrCat(to.size(), " bytes to all and ", from.size(),
                               " from all are not ", ranks,
                               " pieces of one length each"));
  }
  SKERRY_RETURN_IF_ERROR(Meet({.kind = kAllToAll, .count = to.size()}));
  const size_t piece = to.size() / ranks;
  const size_t step = kHalfBytes / ranks;
  // While some still take what is in one half, others fill the other.
  for (size_t at = 0, turn = 0; at < piece; at += step, turn ^= 1) {
    const size_t size = std::min(step, piece - at);
    std::byte* const mine = Half(options_.rank, turn);
    for (size_t rank = 0; rank < ranks; ++rank) {
      std::copy_n(&to[rank * piece + at], size, mine + rank * step);
    }
    SKERRY_RETURN_IF_ERROR(
        ArriveAndWait(runtime::FutexDeadline::After(options_.timeout)));
    const size_t offset = static_cast<size_t>(options_.rank) * step;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const std::byte* const theirs = Half(static_cast<int>(rank), turn);
      std::copy_n(theirs + offset, size, &from[rank * piece + at]);
    }
  }
  return absl::OkStatus();
}

absl::Status ShmGroup::AllGather(std::span<const std::byte> piece,
                                 std::span<std::byte> all) {
  const auto ranks = static_cast<size_t>(options_.size);
  if (all.size() != ranks * piece.size()) {
    return Refuse(absl::StrCat(all.size(), " bytes are not ", ranks,
                               " pieces of ", piece.size()));
  }
  SKERRY_RETURN_IF_ERROR(Meet({.kind = kAllGather, .count = piece.size()}));
  for (size_t at = 0, turn = 0; at < piece.size();
       at += kHalfBytes, turn ^= 1) {
    const size_t size = std::min(kHalfBytes, piece.size() - at);
    std::copy_n(&piece[at], size, Half(options_.rank, turn));
    SKERRY_RETURN_IF_ERROR(
        ArriveAndWait(runtime::FutexDeadline::After(options_.timeout)));
    for (size_t rank = 0; rank < ranks; ++rank) {
      std::copy_n(Half(static_cast<int>(rank), turn), size,
                  &all[rank * piece.size() + at]);
    }
  }
  return absl::OkStatus();
}

}  // namespace skerry::transport
