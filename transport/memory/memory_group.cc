#include "transport/memory/memory_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/instant.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {
namespace {

enum class CallKind { kBarrier, kAllReduce, kBroadcast, kAllToAll, kAllGather };

struct Call {
  CallKind kind = CallKind::kBarrier;
  int root = 0;
  std::span<float> values = {};
  std::span<const std::byte> to = {};
  std::span<std::byte> from = {};
  bool SameAs(const Call& other) const {
    return kind == other.kind && root == other.root &&
           values.size() == other.values.size() && to.size() == other.to.size();
  }
};

// Where the members meet. Whoever comes last does the work of all while the
// others wait, so their spans may be written.
class Meeting {
 public:
  Meeting(int size, absl::Duration timeout) : timeout_(timeout), calls_(size) {}

  int size() const { return static_cast<int>(calls_.size()); }

  absl::Status Attend(int rank, const Call& call) {
    const runtime::MutexLock lock(mutex_);
    if (!error_.ok()) return Later(error_);
    calls_[static_cast<size_t>(rank)] = call;
    const uint64_t meeting = meetings_;
    if (++arrived_ == size()) {
      arrived_ = 0;
      error_ = Work();
      ++meetings_;
      changed_.NotifyAll();
      return error_;
    }
    const Instant end = runtime::MonotonicNow() + timeout_;
    while (meetings_ == meeting && error_.ok() &&
           changed_.WaitUntil(mutex_, end)) {
    }
    if (meetings_ == meeting && error_.ok()) {
      error_ = absl::DeadlineExceededError(
          absl::StrCat("a member of the group did not arrive within ",
                       absl::FormatDuration(timeout_)));
      changed_.NotifyAll();
      return error_;
    }
    if (meetings_ != meeting) return error_;
    return Later(error_);
  }

  void Abort() {
    const runtime::MutexLock lock(mutex_);
    if (error_.ok()) {
      error_ = absl::AbortedError("the island's group was aborted");
    }
    changed_.NotifyAll();
  }

 private:
  // The error of members that come after the first error.
  static absl::Status Later(const absl::Status& error) {
    return absl::AbortedError(error.message());
  }

  absl::Status Work() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Call& first = calls_[0];
    for (const Call& call : calls_) {
      if (!call.SameAs(first)) {
        return absl::InvalidArgumentError(
            "the members of the group called different collectives");
      }
    }
    if (first.kind == CallKind::kAllReduce) {
      sum_.assign(first.values.begin(), first.values.end());
      for (size_t rank = 1; rank < calls_.size(); ++rank) {
        for (size_t i = 0; i < sum_.size(); ++i) {
          sum_[i] += calls_[rank].values[i];
        }
      }
      Give(sum_);
    } else if (first.kind == CallKind::kBroadcast) {
      const std::span<float> root =
          calls_[static_cast<size_t>(first.root)].values;
      sum_.assign(root.begin(), root.end());
      Give(sum_);
    } else if (first.kind == CallKind::kAllToAll) {
      const size_t piece = first.to.size() / calls_.size();
      for (size_t rank = 0; rank < calls_.size(); ++rank) {
        GivePieces(calls_[rank].from, rank * piece, piece);
      }
    } else if (first.kind == CallKind::kAllGather) {
      for (const Call& call : calls_) {
        GivePieces(call.from, 0, first.to.size());
      }
    }
    return absl::OkStatus();
  }

  // Fills `from` with bytes [begin, begin + size) of what each rank gives, in
  // the order of the ranks.
  void GivePieces(std::span<std::byte> from, size_t begin, size_t size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const Call& call : calls_) {
      const auto piece = call.to.subspan(begin, size);
      std::copy(piece.begin(), piece.end(), from.begin());
      from = from.subspan(size);
    }
  }

  void Give(std::span<const float> values)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const Call& call : calls_) {
      std::copy(values.begin(), values.end(), call.values.begin());
    }
  }

  const absl::Duration timeout_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::vector<Call> calls_;
  std::vector<float> sum_ ABSL_GUARDED_BY(mutex_);
  int arrived_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t meetings_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

class MemoryGroup final : public Group {
 public:
  MemoryGroup(int rank, std::shared_ptr<Meeting> meeting)
      : rank_(rank), meeting_(std::move(meeting)) {}

  int rank() const override { return rank_; }
  int size() const override { return meeting_->size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    return meeting_->Attend(rank_,
                            {.kind = CallKind::kAllReduce, .values = values});
  }
  absl::Status Broadcast(std::span<float> values, int root) override {
    if (root < 0 || root >= size()) {
      return Refuse(
          absl::StrCat("root ", root, " is not in a group of ", size()));
    }
    return meeting_->Attend(
        rank_, {.kind = CallKind::kBroadcast, .root = root, .values = values});
  }
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override {
    const auto ranks = static_cast<size_t>(size());
    if (to.size() != from.size() || to.size() % ranks != 0) {
      return Refuse(absl::StrCat(to.size(), " bytes to all and ", from.size(),
                                 " from all are not ", ranks,
                                 " pieces of one length each"));
    }
    return meeting_->Attend(
        rank_, {.kind = CallKind::kAllToAll, .to = to, .from = from});
  }
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override {
    const auto ranks = static_cast<size_t>(size());
    if (all.size() != ranks * piece.size()) {
      return Refuse(absl::StrCat(all.size(), " bytes are not ", ranks,
                                 " pieces of ", piece.size()));
    }
    return meeting_->Attend(
        rank_, {.kind = CallKind::kAllGather, .to = piece, .from = all});
  }
  absl::Status Barrier() override { return meeting_->Attend(rank_, Call()); }
  void Abort() override { meeting_->Abort(); }

 private:
  absl::Status Refuse(absl::string_view why) {
    Abort();
    return absl::InvalidArgumentError(why);
  }

  const int rank_;
  // Shared by the handles: whichever is destroyed last ends it.
  const std::shared_ptr<Meeting> meeting_;
};

}  // namespace

std::vector<std::unique_ptr<Group>> MakeMemoryGroup(int size,
                                                    absl::Duration timeout) {
  SKERRY_CHECK(size >= 1);
  const auto meeting = std::make_shared<Meeting>(size, timeout);
  std::vector<std::unique_ptr<Group>> group;
  for (int rank = 0; rank < size; ++rank) {
    group.push_back(std::make_unique<MemoryGroup>(rank, meeting));
  }
  return group;
}

}  // namespace skerry::transport
