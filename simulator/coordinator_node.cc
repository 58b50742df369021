#include "simulator/coordinator_node.h"

#include <deque>
#include <optional>
#include <utility>

#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"
#include "simulator/worker_node.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

constexpr HostId kHost = 0;
// A message has left the process after this.
constexpr absl::Duration kWriting = absl::Microseconds(100);

}  // namespace

// The coordinator's end of a session: at most one Status is taken in at a time.
class CoordinatorNode::ServerStream final : public coordinator::OrdersStream {
 public:
  ServerStream(CoordinatorNode& node, std::shared_ptr<Session> session)
      : node_(node), session_(std::move(session)) {}

  bool ready() const override { return !writing_ && !finished_; }
  void Send(const protocol::Orders& orders) override;
  void Finish(const absl::Status& why);

  bool finished() const { return finished_; }
  HostId worker() const { return session_->worker; }

  struct Identity {
    std::string worker;
    Boot boot;
  };
  std::optional<Identity> identity;
  std::deque<StatusMessage> waiting;
  bool taking = false;

 private:
  CoordinatorNode& node_;
  const std::shared_ptr<Session> session_;
  bool writing_ = false;
  bool finished_ = false;
};

void CoordinatorNode::ServerStream::Send(const protocol::Orders& orders) {
  World& world = node_.world_;
  const std::shared_ptr<v1::Orders> message = world.orders_pool.Take();
  protocol::OrdersToProto(orders, message.get());
  const size_t bytes = message->ByteSizeLong();
  world.observer.OnOrdersSaid(session_->worker, orders);
  world.history.Add(world.timeline.now(), "orders ", session_->worker, " ",
                    orders.revision.value(), " ", bytes);
  world.network.Send(kHost, session_->worker, bytes,
                     [session = session_, message] {
                       if (!session->stream->is_broken()) {
                         session->on_orders(message);
                       }
                     });
  writing_ = true;
  node_.process_.RunAt(node_.process_.Now() + kWriting,
                       [&node = node_, id = session_->id] {
                         ServerStream* stream = node.Find(id);
                         if (stream == nullptr) return;
                         stream->writing_ = false;
                         if (!stream->identity.has_value()) return;
                         node.shell_.StreamReady(stream->identity->worker);
                       });
}

void CoordinatorNode::ServerStream::Finish(const absl::Status& why) {
  if (std::exchange(finished_, true)) return;
  session_->stream->Close(Session::kCoordinatorEnd, why);
}

// Compares every state that stands on durable ground with what it was.
struct CoordinatorNode::Watch final : public coordinator::SettledObserver {
  explicit Watch(World& w) : world(w) {}
  void OnSettled(const coordinator::Cluster& cluster, Instant,
                 std::span<const coordinator::Entry>,
                 std::vector<coordinator::GenerateAnswer>) override {
    if (!world.setting.watched) return;
    cluster.CheckInvariants();
    world.observer.OnState(cluster.revision(), cluster.StateHash());
  }
  coordinator::EventHistory SaveEvents() override { return {}; }
  void OnRestored(const coordinator::EventHistory&, Instant) override {}
  World& world;
};

CoordinatorNode::CoordinatorNode(World& world)
    : world_(world),
      run_(world.machine(kHost).run),
      process_(world.timeline, world.random, world.machine(kHost).clock, [] {}),
      journal_(
          world.journal_disk(), world.timeline, world.random, process_,
          [&world](const std::vector<coordinator::JournalEntry>& entries) {
            world.OnDurable(entries);
          },
          [&world](absl::Status why) {
            world.Exit(kHost, std::string(why.message()));
          }),
      watch_(std::make_unique<Watch>(world)),
      shell_(world.setting.options, process_, journal_,
             {.records_min = world.setting.compact_records,
              .bytes_ratio_min = 0}) {
  shell_.set_observer(watch_.get());
  const absl::Status status = shell_.Recover();
  recovered_ = status.ok();
  if (!recovered_) {
    world.observer.OnBroken("the journal cannot be folded: " +
                            status.ToString());
  }
}

CoordinatorNode::~CoordinatorNode() { shell_.set_observer(nullptr); }

CoordinatorNode::ServerStream* CoordinatorNode::Find(uint64_t id) {
  const auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second.get();
}

void CoordinatorNode::OnStatus(const std::shared_ptr<Session>& session,
                               const StatusMessage& status) {
  process_.Post([this, session, status] {
    ServerStream* stream = Find(session->id);
    if (stream == nullptr) {
      if (session->stream->is_broken()) return;
      stream = streams_
                   .emplace(session->id,
                            std::make_unique<ServerStream>(*this, session))
                   .first->second.get();
    }
    stream->waiting.push_back(status);
    Take(session->id);
  });
}

void CoordinatorNode::Take(uint64_t id) {
  ServerStream* stream = Find(id);
  if (stream == nullptr || stream->taking || stream->finished() ||
      stream->waiting.empty()) {
    return;
  }
  absl::StatusOr<protocol::StatusFacts> facts =
      protocol::StatusFromProto(*stream->waiting.front());
  stream->waiting.pop_front();
  if (!facts.ok()) {
    world_.observer.OnBroken("a worker's Status was refused: " +
                             facts.status().ToString());
    Refuse(id, facts.status());
    return;
  }
  stream->taking = true;
  const std::string worker = facts->self.worker;
  const Boot boot = facts->boot;
  shell_.Do([this, id, worker, boot, from = stream->worker(),
             facts = *std::move(facts)](
                coordinator::Cluster& cluster,
                Instant now) -> coordinator::ClusterShell::Settled {
    const absl::Status taken = cluster.OnStatus(facts, now);
    if (taken.ok()) world_.observer.OnStatusTaken(from, run_, facts);
    return
        [this, id, worker, boot, taken](const coordinator::Cluster&, Instant) {
          Answer(id, worker, boot, taken);
        };
  });
}

void CoordinatorNode::Answer(uint64_t id, const std::string& worker, Boot boot,
                             const absl::Status& taken) {
  ServerStream* stream = Find(id);
  if (stream == nullptr || stream->finished()) return;
  stream->taking = false;
  if (!taken.ok()) {
    Refuse(id, taken);
    return;
  }
  MakeLive(id, *stream, worker, boot);
  shell_.Touch(worker);
  process_.Post([this, id] { Take(id); });
}

void CoordinatorNode::MakeLive(uint64_t id, ServerStream& stream,
                               const std::string& worker, Boot boot) {
  if (stream.identity.has_value()) return;
  stream.identity = ServerStream::Identity{worker, boot};
  const auto older = live_.find(worker);
  if (older != live_.end()) {
    if (ServerStream* replaced = Find(older->second)) {
      replaced->Finish(absl::AbortedError("a newer stream replaced this one"));
    }
  }
  live_[worker] = id;
  shell_.Attach(worker, stream);
}

void CoordinatorNode::Unlink(uint64_t id) {
  ServerStream* stream = Find(id);
  if (stream == nullptr || !stream->identity.has_value()) return;
  const ServerStream::Identity lost = *stream->identity;
  const auto live = live_.find(lost.worker);
  if (live == live_.end() || live->second != id) return;
  live_.erase(live);
  shell_.Detach(lost.worker, *stream);
  shell_.Do([lost](coordinator::Cluster& cluster,
                   Instant now) -> coordinator::ClusterShell::Settled {
    cluster.OnStreamLost(lost.worker, lost.boot, now);
    return [](const coordinator::Cluster&, Instant) {};
  });
}

void CoordinatorNode::Refuse(uint64_t id, const absl::Status& why) {
  ServerStream* stream = Find(id);
  if (stream == nullptr || stream->finished()) return;
  world_.history.Add(world_.timeline.now(), "refuse ", stream->worker(), " ",
                     why.ToString());
  Unlink(id);
  stream->Finish(why);
}

void CoordinatorNode::OnClosed(uint64_t id) {
  process_.Post([this, id] {
    Unlink(id);
    streams_.erase(id);
  });
}

}  // namespace skerry::sim
