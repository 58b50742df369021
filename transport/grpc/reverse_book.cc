#include "transport/grpc/reverse_book.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"

namespace skerry::transport {
namespace {

constexpr absl::Duration kOpenMax = absl::Seconds(30);
// More than any worker keeps ready.
constexpr size_t kIdleMax = 16;

absl::Status NotOpened(const std::string& peer) {
  return absl::UnavailableError(absl::StrCat(
      "worker ", peer, " cannot be dialled and has opened no stream here"));
}

}  // namespace

// The outbox's end. It keeps the first frames until there is a call.
class ReverseBook::Stream final : public OutgoingStream {
 public:
  Stream(ReverseBook& book, Place place, StreamEvents& events)
      : book_(book), place_(std::move(place)), events_(events) {}
  ~Stream() override {
    book_.streams_.erase(place_);
    if (call_ == nullptr) return;
    call_->Bind(nullptr);
    book_.Lose(*call_);
    call_->End(absl::UnavailableError("the stream is begun anew"));
  }

  void Write(const Frame& frame) override {
    if (call_ != nullptr) return call_->Write(frame);
    early_.push_back(frame);
  }
  void Attach(std::shared_ptr<ReverseOutput> call) {
    call_ = std::move(call);
    call_->Bind(&events_);
    for (const Frame& frame : early_) call_->Write(frame);
    early_.clear();
  }
  bool is_attached() const { return call_ != nullptr; }
  StreamEvents& events() { return events_; }
  std::weak_ptr<char> alive() const { return alive_; }

 private:
  ReverseBook& book_;
  const Place place_;
  StreamEvents& events_;
  std::shared_ptr<ReverseOutput> call_;
  std::vector<Frame> early_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// A fetch, with its call once there is one.
class ReverseBook::Wanted final : public FetchInProgress {
 public:
  Wanted(runtime::EventLoop& loop, std::string peer, const PieceKey& key,
         BulkTransport::FetchDone done)
      : loop_(loop),
        peer_(std::move(peer)),
        key_(key),
        done_(std::move(done)) {}

  void Cancel() override {
    if (call_ != nullptr) return call_->End(absl::CancelledError("given up"));
    if (done_ == nullptr) return;
    loop_.Post([peer = peer_, done = std::exchange(done_, nullptr)]() mutable {
      std::move(done)(NotOpened(peer));
    });
  }
  uint64_t pieces_received() const override {
    return call_ == nullptr ? 0 : call_->pieces_received();
  }
  bool is_waiting() const { return done_ != nullptr; }
  void Attach(std::shared_ptr<ReverseFetch> call) {
    call_ = std::move(call);
    call_->Ask(key_, std::exchange(done_, nullptr));
  }

 private:
  runtime::EventLoop& loop_;
  const std::string peer_;
  const PieceKey key_;
  BulkTransport::FetchDone done_;  // null once there is a call, or no more wish
  std::shared_ptr<ReverseFetch> call_;
};

ReverseBook::~ReverseBook() {
  *alive_ = false;
  const absl::Status gone = absl::UnavailableError("the worker is stopping");
  for (const auto& [place, call] : outputs_) call->End(gone);
  for (const auto& [peer, calls] : idle_) {
    for (const auto& call : calls) call->End(gone);
  }
}

std::unique_ptr<OutgoingStream> ReverseBook::Open(const std::string& peer,
                                                  int index,
                                                  StreamEvents& events) {
  const Place place(peer, index);
  auto stream = std::make_unique<Stream>(*this, place, events);
  streams_[place] = stream.get();
  if (const auto call = outputs_.find(place); call != outputs_.end()) {
    stream->Attach(call->second);
    return stream;
  }
  loop_.RunAt(loop_.Now() + kOpenMax,
              [this, book_alive = alive_, place, alive = stream->alive()] {
                if (!*book_alive || alive.expired()) return;
                Stream* const waiting = streams_.at(place);
                if (waiting->is_attached()) return;
                waiting->events().OnClosed(NotOpened(place.first));
              });
  return stream;
}

std::shared_ptr<FetchInProgress> ReverseBook::Fetch(
    const std::string& peer, const PieceKey& key,
    BulkTransport::FetchDone done) {
  auto wanted = std::make_shared<Wanted>(loop_, peer, key, std::move(done));
  auto& idle = idle_[peer];
  if (idle.empty()) {
    auto& waiting = wanted_[peer];
    std::erase_if(waiting, [](const auto& one) { return one.expired(); });
    waiting.push_back(wanted);
  } else {
    wanted->Attach(std::move(idle.front()));
    idle.pop_front();
  }
  return wanted;
}

void ReverseBook::Forget(const std::string& peer) {
  const absl::Status gone = absl::UnavailableError("the worker has moved");
  std::vector<std::shared_ptr<ReverseOutput>> ending;
  for (auto it = outputs_.lower_bound({peer, 0});
       it != outputs_.end() && it->first.first == peer; ++it) {
    ending.push_back(it->second);
  }
  for (const auto& call : ending) {
    Lose(*call);
    call->End(gone);
  }
  for (const auto& call : idle_[peer]) call->End(gone);
  idle_.erase(peer);
}

absl::Status ReverseBook::CheckAwaited(const ReversePeer& peer) {
  if (directory_.IsReverse(peer.worker)) return absl::OkStatus();
  const absl::Status refused = absl::PermissionDeniedError(absl::StrCat(
      "this worker awaits no streams of worker ", peer.worker,
      ": none of its orders say that it trains with it and cannot dial it"));
  const absl::Time now = absl::UnixEpoch() + (loop_.Now() - Instant());
  if (const std::optional<uint64_t> unsaid = refusals_.Count(now)) {
    runtime::Log(runtime::Severity::kWarning, "transport.call.refused",
                 {{"caller", peer.certificate},
                  {"serial", peer.serial},
                  {"cause", std::string(refused.message())},
                  {"more_refused", *unsaid}});
  }
  return refused;
}

absl::Status ReverseBook::Take(const std::shared_ptr<ReverseOutput>& call) {
  SKERRY_RETURN_IF_ERROR(CheckAwaited(call->peer()));
  const Place place(call->peer().worker, call->index());
  std::shared_ptr<ReverseOutput>& slot = outputs_[place];
  const std::shared_ptr<ReverseOutput> older = std::exchange(slot, call);
  const auto stream = streams_.find(place);
  if (older != nullptr) {
    // If a stream has it, that one ends with it and comes back for the newer.
    older->End(absl::AbortedError("a newer stream has taken its place"));
  } else if (stream != streams_.end() && !stream->second->is_attached()) {
    stream->second->Attach(call);
  }
  return absl::OkStatus();
}

absl::Status ReverseBook::Take(const std::shared_ptr<ReverseFetch>& call) {
  const std::string& peer = call->peer().worker;
  SKERRY_RETURN_IF_ERROR(CheckAwaited(call->peer()));
  auto& wanted = wanted_[peer];
  while (!wanted.empty()) {
    const std::shared_ptr<Wanted> one = wanted.front().lock();
    wanted.pop_front();
    if (one == nullptr || !one->is_waiting()) continue;
    one->Attach(call);
    return absl::OkStatus();
  }
  wanted_.erase(peer);
  auto& idle = idle_[peer];
  if (idle.size() >= kIdleMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kIdleMax, " calls of worker ", peer,
                     " wait here for a fetch, and no more are taken"));
  }
  idle.push_back(call);
  return absl::OkStatus();
}

void ReverseBook::Lose(const ReverseOutput& call) {
  const auto it = outputs_.find({call.peer().worker, call.index()});
  if (it != outputs_.end() && it->second.get() == &call) outputs_.erase(it);
}

void ReverseBook::Lose(const ReverseFetch& call) {
  const auto it = idle_.find(call.peer().worker);
  if (it == idle_.end()) return;
  std::erase_if(it->second,
                [&call](const auto& one) { return one.get() == &call; });
  if (it->second.empty()) idle_.erase(it);
}

}  // namespace skerry::transport
