#include "worker/daemon/peer_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "runtime/posix/monotonic_clock.h"

namespace skerry::worker {
namespace {

// How often one worker is asked for one chunk while it cannot answer: where it
// is the only one, and where there are others.
constexpr int kTriesOfOnly = 5;
constexpr int kTriesOfOneOfMany = 2;

absl::Status NobodyWantsIt() {
  return absl::CancelledError("no job wants the data set any more");
}

}  // namespace

void DataHolders::Set(std::vector<std::string> names) {
  const runtime::MutexLock lock(mutex_);
  names_ = std::move(names);
}

std::vector<std::string> DataHolders::Get() const {
  const runtime::MutexLock lock(mutex_);
  return names_;
}

PeerSource::PeerSource(PeerSourceOptions options)
    : options_(std::move(options)) {}

std::vector<std::string> PeerSource::Origins() const {
  std::vector<std::string> names = options_.holders->Get();
  absl::btree_map<std::string, int> failures;
  {
    const runtime::MutexLock lock(mutex_);
    failures = failures_;
  }
  std::stable_sort(names.begin(), names.end(),
                   [&failures](const std::string& a, const std::string& b) {
                     const auto count = [&failures](const std::string& name) {
                       const auto it = failures.find(name);
                       return it == failures.end() ? 0 : it->second;
                     };
                     return count(a) < count(b);
                   });
  return names;
}

absl::Status PeerSource::Read(
    const std::string& origin, const DataFile& file,
    absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) {
  protocol::PieceKey key{.kind = protocol::PieceKey::Kind::kData,
                         .hash = ShortHash(options_.set),
                         .job = options_.job,
                         .file = file.number};
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const SharedBytes chunk, FetchChunk(origin, key));
    if (chunk.size() > 0) SKERRY_RETURN_IF_ERROR(take(chunk.bytes()));
    if (chunk.size() < transport::kDataChunkBytes) return absl::OkStatus();
    key.offset_bytes += chunk.size();
  }
}

absl::StatusOr<SharedBytes> PeerSource::FetchChunk(
    const std::string& origin, const protocol::PieceKey& key) {
  const int tries =
      options_.holders->Get().size() > 1 ? kTriesOfOneOfMany : kTriesOfOnly;
  absl::Duration wait = options_.retry_wait;
  for (int i = 1;; ++i) {
    absl::StatusOr<SharedBytes> chunk = AskOnce(origin, key);
    if (i == tries || !absl::IsUnavailable(chunk.status())) return chunk;
    SKERRY_RETURN_IF_ERROR(Wait(wait));
    wait *= 2;
  }
}

absl::StatusOr<SharedBytes> PeerSource::AskOnce(const std::string& origin,
                                                const protocol::PieceKey& key) {
  using Answer = absl::StatusOr<SharedBytes>;
  // Guarded by the bell's mutex.
  const auto answer = std::make_shared<std::optional<Answer>>();
  {
    const runtime::MutexLock lock(bell_->mutex);
    if (bell_->dropped) return NobodyWantsIt();
  }
  options_.ask(origin, key, [bell = bell_, answer](Answer said) {
    {
      const runtime::MutexLock lock(bell->mutex);
      *answer = std::move(said);
    }
    bell->rings.NotifyAll();
  });
  runtime::MutexLock lock(bell_->mutex);
  while (!bell_->dropped && !answer->has_value()) {
    bell_->rings.Wait(bell_->mutex);
  }
  if (!answer->has_value()) return NobodyWantsIt();
  return **std::move(answer);
}

absl::Status PeerSource::Wait(absl::Duration wait) {
  const Instant end = runtime::MonotonicNow() + wait;
  const runtime::MutexLock lock(bell_->mutex);
  while (!bell_->dropped && bell_->rings.WaitUntil(bell_->mutex, end)) {
  }
  return bell_->dropped ? NobodyWantsIt() : absl::OkStatus();
}

absl::Status PeerSource::Named(const std::string& origin,
                               const absl::Status& error) const {
  return Annotate(error, absl::StrCat("worker ", origin));
}

void PeerSource::OnFailed(const std::string& origin,
                          const absl::Status& error) {
  runtime::Log(runtime::Severity::kWarning, "worker.data.refused",
               {{"set", options_.set}, {"peer", origin}, {"cause", error}});
  const runtime::MutexLock lock(mutex_);
  ++failures_[origin];
  trouble_ = std::string(error.message());
}

void PeerSource::Drop() {
  {
    const runtime::MutexLock lock(bell_->mutex);
    bell_->dropped = true;
  }
  bell_->rings.NotifyAll();
}

std::string PeerSource::trouble() const {
  const runtime::MutexLock lock(mutex_);
  return trouble_;
}

}  // namespace skerry::worker
