#include "transport/outbox.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"
#include "transport/link_meter.h"

namespace skerry::transport {
namespace {

// A link that was measured slow, and is not, can still show it.
constexpr double kUnderWayBytesMin = 256 * 1024;
constexpr absl::Duration kUnderWayMax = absl::Milliseconds(500);
// A frame takes less on any link that is of use, and so does a new connection.
constexpr absl::Duration kUnreachedAfter = absl::Seconds(30);

// What keeps a link busy while answers come back, and no more: it can't be
// called back when its attempt is given up, and the next one waits behind it.
uint64_t UnderWayBytesMax(const LinkEstimate& link) {
  return static_cast<uint64_t>(
      std::max(kUnderWayBytesMin,
               link.bytes_per_s *
                   absl::ToDoubleSeconds(link.round_trip + kUnderWayMax)));
}

}  // namespace

// One place for a stream: the stream that is open, or the wait for the next.
class Outbox::Lane final : public StreamEvents {
 public:
  Lane(Outbox& outbox, Peer& peer, int index)
      : outbox_(outbox), peer_(peer), index_(index) {}

  TrafficClass traffic_class() const {
    return index_ == 0 ? TrafficClass::kLatency : TrafficClass::kBulk;
  }
  bool is_open() const { return stream_ != nullptr; }
  bool HasRoom() const { return is_open() && room_ > 0; }
  Instant reopen_at() const { return reopen_at_; }
  void Open();
  void Write(SendQueue::Outgoing outgoing);
  // Lets go of the stream, if there is one, and may open another at once.
  void Reset();

  void OnWritten() override;
  void OnAnswers(std::span<const Answered> answers) override;
  void OnClosed(const absl::Status& why) override;

 private:
  // Ends the stream. Answers how many frames wait again for it.
  size_t Lose();

  Outbox& outbox_;
  Peer& peer_;
  const int index_;
  std::unique_ptr<OutgoingStream> stream_;
  int room_ = 0;
  uint64_t next_ordinal_ = 0;
  struct Written {
    SendQueue::Ticket ticket;
    uint64_t bytes;
    bool arrived = false;
  };
  absl::btree_map<uint64_t, Written> unanswered_;  // by ordinal
  absl::Duration backoff_;
  Instant reopen_at_;
};

struct Outbox::Peer {
  Peer(std::string name, const SendQueueOptions& options, uint64_t seed)
      : name(std::move(name)), queue(options, seed) {}
  const std::string name;
  SendQueue queue;
  LinkMeter link;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::optional<Instant> armed_for;
  // Since when something waits for its answer, or for the next one.
  std::optional<Instant> silent_since;
};

void Outbox::Lane::Open() {
  room_ = outbox_.options_.frames_per_stream_max;
  next_ordinal_ = 0;
  stream_ = outbox_.opener_.Open(peer_.name, index_, *this);
}

void Outbox::Lane::Write(SendQueue::Outgoing outgoing) {
  --room_;
  unanswered_[next_ordinal_++] = {outgoing.ticket,
                                  outgoing.frame->payload.size()};
  peer_.link.OnSent(outbox_.loop_.Now());
  stream_->Write(*outgoing.frame);
}

void Outbox::Lane::OnWritten() {
  ++room_;
  outbox_.Pump(peer_);
}

void Outbox::Lane::OnAnswers(std::span<const Answered> answers) {
  const Instant now = outbox_.loop_.Now();
  backoff_ = absl::ZeroDuration();
  for (const Answered& answered : answers) {
    const auto it = unanswered_.find(answered.ordinal);
    if (it == unanswered_.end()) continue;
    const SendQueue::Ticket ticket = it->second.ticket;
    if (!std::exchange(it->second.arrived, true)) {
      peer_.link.OnArrived(now, it->second.bytes);
    }
    if (answered.answer != Answer::kHeld) unanswered_.erase(it);
    auto finished = peer_.queue.OnAnswer(ticket, answered.answer, now);
    if (finished.has_value()) outbox_.Finish(*std::move(finished));
  }
  outbox_.AwaitAnswer(peer_, true);
  if (const auto link = peer_.link.estimate()) {
    peer_.queue.set_under_way_bytes_max(UnderWayBytesMax(*link));
  }
  outbox_.Pump(peer_);
}

size_t Outbox::Lane::Lose() {
  stream_.reset();
  std::vector<SendQueue::Ticket> lost;
  for (const auto& [ordinal, written] : unanswered_) {
    lost.push_back(written.ticket);
    if (!written.arrived) peer_.link.OnLost();
  }
  unanswered_.clear();
  peer_.queue.OnLost(lost);
  return lost.size();
}

void Outbox::Lane::Reset() {
  if (is_open()) Lose();
  backoff_ = absl::ZeroDuration();
  reopen_at_ = outbox_.loop_.Now();
}

void Outbox::Lane::OnClosed(const absl::Status& why) {
  const size_t lost = Lose();
  ++peer_.queue.counters().streams_lost;
  backoff_ = std::clamp(2 * backoff_, outbox_.options_.reopen_min,
                        outbox_.options_.reopen_max);
  reopen_at_ =
      outbox_.loop_.Now() + backoff_ * (0.5 + 0.5 * outbox_.random_.Uniform());
  runtime::Log(runtime::Severity::kInfo, "bulk.stream.lost",
               {{"peer", peer_.name},
                {"stream", index_},
                {"unanswered_frames", lost},
                {"error", why}});
  outbox_.Pump(peer_);
}

Outbox::Outbox(const OutboxOptions& options, runtime::EventLoop& loop,
               StreamOpener& opener, uint64_t seed)
    : options_(options), loop_(loop), opener_(opener), random_(seed) {}

Outbox::~Outbox() { *alive_ = false; }

Outbox::Peer& Outbox::PeerNamed(const std::string& name) {
  std::unique_ptr<Peer>& slot = peers_[name];
  if (slot == nullptr) {
    slot = std::make_unique<Peer>(name, options_.queue, random_());
    for (int i = 0; i <= options_.bulk_streams_per_peer; ++i) {
      slot->lanes.push_back(std::make_unique<Lane>(*this, *slot, i));
    }
  }
  return *slot;
}

void Outbox::Send(const std::string& name, Frame frame,
                  TrafficClass traffic_class, BulkTransport::SendDone done) {
  Peer& peer = PeerNamed(name);
  if (!peer.queue.HasRoom()) {
    Finish({std::move(done),
            absl::ResourceExhaustedError(absl::StrCat(
                options_.queue.frames_max, " frames wait for ", name))});
    return;
  }
  peer.queue.Push(std::move(frame), traffic_class, std::move(done));
  AwaitAnswer(peer, false);
  Pump(peer);
}

void Outbox::ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt) {
  for (auto& [name, peer] : peers_) {
    for (SendQueue::Finished& finished :
         peer->queue.ForgetBefore(job, fragment, attempt)) {
      Finish(std::move(finished));
    }
    AwaitAnswer(*peer, false);
    Pump(*peer);
  }
}

void Outbox::AwaitAnswer(Peer& peer, bool has_answered) {
  if (has_answered || peer.queue.empty()) peer.silent_since.reset();
  if (!peer.queue.empty() && !peer.silent_since.has_value()) {
    peer.silent_since = loop_.Now();
  }
}

std::vector<std::string> Outbox::unreached() const {
  std::vector<std::string> names;
  for (const auto& [name, peer] : peers_) {
    if (peer->silent_since.has_value() &&
        loop_.Now() - *peer->silent_since >= kUnreachedAfter) {
      names.push_back(name);
    }
  }
  return names;
}

void Outbox::Fill(Peer& peer, Lane& lane) {
  const Instant now = loop_.Now();
  if (!lane.is_open() && now >= lane.reopen_at() &&
      peer.queue.CanSend(lane.traffic_class(), now)) {
    lane.Open();
  }
  while (lane.HasRoom()) {
    const auto outgoing = peer.queue.Next(lane.traffic_class(), now);
    if (!outgoing.has_value()) return;
    lane.Write(*outgoing);
  }
}

// Lane 0 first, and the rest only when it is not waiting to write: bulk never
// overtakes. A lane 0 that is closed holds nobody up.
void Outbox::Pump(Peer& peer) {
  Lane& urgent = *peer.lanes[0];
  Fill(peer, urgent);
  const bool must_yield =
      urgent.is_open() &&
      peer.queue.CanSend(TrafficClass::kLatency, loop_.Now());
  for (size_t i = 1; i < peer.lanes.size() && !must_yield; ++i) {
    Fill(peer, *peer.lanes[i]);
  }
  Arm(peer);
}

void Outbox::Arm(Peer& peer) {
  const Instant now = loop_.Now();
  std::optional<Instant> next = peer.queue.NextWork(now);
  for (const auto& lane : peer.lanes) {
    if (lane->is_open() || !peer.queue.HasWaiting(lane->traffic_class()) ||
        lane->reopen_at() <= now) {
      continue;
    }
    next = next.has_value() ? std::min(*next, lane->reopen_at())
                            : lane->reopen_at();
  }
  if (!next.has_value()) return;
  if (peer.armed_for.has_value() && *peer.armed_for <= *next) return;
  peer.armed_for = next;
  loop_.RunAt(*next, [this, alive = alive_, &peer, when = *next] {
    if (!*alive) return;
    if (peer.armed_for == when) peer.armed_for.reset();
    Pump(peer);
  });
}

void Outbox::Finish(SendQueue::Finished finished) {
  loop_.Post([alive = alive_, finished = std::move(finished)]() mutable {
    if (*alive) std::move(finished.done)(std::move(finished.status));
  });
}

void Outbox::OnMoved(const std::string& name) {
  const auto it = peers_.find(name);
  if (it == peers_.end()) return;
  Peer& peer = *it->second;
  for (const auto& lane : peer.lanes) lane->Reset();
  peer.link = LinkMeter();
  Pump(peer);
}

PeerCounters& Outbox::CountersOf(const std::string& name) {
  return PeerNamed(name).queue.counters();
}

absl::btree_map<std::string, LinkEstimate> Outbox::links() const {
  absl::btree_map<std::string, LinkEstimate> all;
  for (const auto& [name, peer] : peers_) {
    if (const auto link = peer->link.estimate()) all[name] = *link;
  }
  return all;
}

absl::btree_map<std::string, PeerCounters> Outbox::counters() const {
  absl::btree_map<std::string, PeerCounters> all;
  for (const auto& [name, peer] : peers_) {
    all[name] = peer->queue.counters();
  }
  return all;
}

}  // namespace skerry::transport
