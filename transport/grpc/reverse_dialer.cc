#include "transport/grpc/reverse_dialer.h"

#include <grpcpp/channel.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/log.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/reverse_dialled.h"

namespace skerry::transport {
namespace {

// Fetches have it too, as those that this worker makes.
constexpr int kBulkStream = 1;

}  // namespace

// A place for one call: the call that is open, or the wait for the next. Those
// of fetches have numbers below 0.
class ReverseDialer::Line final : public DialledEvents {
 public:
  Line(ReverseDialer& dialer, Peer& peer, int index)
      : dialer_(dialer), peer_(peer), index_(index) {}
  ~Line() override {
    if (call_ != nullptr) call_->Close();
  }

  void Open();
  void OnTaken() override;
  void OnOver(const absl::Status& why) override;

 private:
  bool is_fetch() const { return index_ < 0; }
  void OpenLater();

  ReverseDialer& dialer_;
  Peer& peer_;
  const int index_;
  std::shared_ptr<DialledHandle> call_;
  bool is_taken_ = false;
  Instant opened_;
  absl::Duration backoff_;
  std::string said_;  // why the last call ended
  // Its end tells timers that the line is gone.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

struct ReverseDialer::Peer {
  explicit Peer(DialledPeer who) : who(std::move(who)) {}
  const DialledPeer who;
  std::vector<std::unique_ptr<Line>> lines;
};

void ReverseDialer::Line::Open() {
  const auto channel =
      dialer_.connect_(peer_.who.server(), is_fetch() ? kBulkStream : index_);
  if (channel == nullptr) return OpenLater();
  const bool is_relayed = !peer_.who.relay.empty();
  const CallTarget target{dialer_.options_.name,
                          is_relayed ? peer_.who.worker : ""};
  opened_ = dialer_.state_->loop.Now();
  is_taken_ = false;
  if (is_fetch()) {
    auto call = std::make_shared<FetchAnswer>(
        dialer_.state_, dialer_.open_calls_, peer_.who, *this);
    call_ = call;
    FetchAnswer::Begin(
        std::move(call), channel,
        is_relayed ? kRelayReverseFetchMethod : kReverseFetchMethod, target);
  } else {
    auto call = std::make_shared<ReverseIntake>(
        dialer_.state_, dialer_.open_calls_, peer_.who, index_, *this);
    call_ = call;
    ReverseIntake::Begin(
        std::move(call), channel,
        is_relayed ? kRelayReverseFramesMethod : kReverseFramesMethod, target);
  }
}

void ReverseDialer::Line::OnTaken() { is_taken_ = true; }

void ReverseDialer::Line::OpenLater() {
  const auto& options = dialer_.options_;
  backoff_ = std::clamp(2 * backoff_, options.reopen_min, options.reopen_max);
  runtime::EventLoop& loop = dialer_.state_->loop;
  loop.RunAt(loop.Now() + backoff_ * (0.5 + 0.5 * dialer_.random_.Uniform()),
             [this, alive = std::weak_ptr<char>(alive_)] {
               if (!alive.expired() && call_ == nullptr) Open();
             });
}

void ReverseDialer::Line::OnOver(const absl::Status& why) {
  call_ = nullptr;
  const bool lasted =
      dialer_.state_->loop.Now() - opened_ > dialer_.options_.reopen_max;
  if (lasted || is_taken_) backoff_ = absl::ZeroDuration();
  // A fetch that was made has ended as it should.
  if (is_taken_) return Open();
  // A peer that cannot be reached is told of once.
  const bool is_news = lasted || why.message() != said_;
  if (!is_fetch() && is_news) {
    said_ = std::string(why.message());
    runtime::Log(runtime::Severity::kInfo, "bulk.reverse.lost",
                 {{"peer", peer_.who.worker},
                  {"relay", peer_.who.relay},
                  {"stream", index_},
                  {"error", why}});
  }
  OpenLater();
}

ReverseDialer::ReverseDialer(const ReverseDialerOptions& options,
                             std::shared_ptr<BulkCallState> state,
                             OpenCalls& open_calls, const Directory& directory,
                             Connect connect)
    : options_(options),
      state_(std::move(state)),
      open_calls_(open_calls),
      directory_(directory),
      connect_(std::move(connect)),
      random_(options.seed) {}

ReverseDialer::~ReverseDialer() = default;

void ReverseDialer::OpenAll(const std::string& name) {
  std::unique_ptr<Peer>& peer = peers_[name];
  peer = std::make_unique<Peer>(DialledPeer{name, directory_.RelayOf(name)});
  const int fetches = peer->who.relay.empty()
                          ? options_.fetches_per_peer
                          : options_.relayed_fetches_per_peer;
  for (int i = -fetches; i < options_.streams_per_peer; ++i) {
    peer->lines.push_back(std::make_unique<Line>(*this, *peer, i));
    peer->lines.back()->Open();
  }
}

void ReverseDialer::Await(const Directory::Workers& peers) {
  absl::erase_if(peers_,
                 [&](const auto& one) { return !peers.contains(one.first); });
  for (const std::string& name : peers) {
    if (!peers_.contains(name)) OpenAll(name);
  }
}

void ReverseDialer::OnMoved(const std::string& peer) {
  if (peers_.contains(peer)) OpenAll(peer);
}

}  // namespace skerry::transport
