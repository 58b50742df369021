#include "simulator/worker_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "simulator/coordinator_node.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

constexpr HostId kCoordinator = 0;
// A message has left the process after this.
constexpr absl::Duration kWriting = absl::Microseconds(100);

}  // namespace

void WorkerSession::Post(uint64_t id, runtime::Task task) {
  process_.Post([this, id, task = std::move(task)]() mutable {
    if (stream_ != nullptr && stream_->id == id) std::move(task)();
  });
}

void WorkerSession::Open(Events& events) {
  events_ = &events;
  stream_ = std::make_shared<Session>();
  stream_->id = world_.NextNumber();
  stream_->worker = host_;
  stream_->on_orders = [this, alive = process_.alive(),
                        id = stream_->id](const OrdersMessage& message) {
    if (!alive.expired()) OnMessage(id, message);
  };
  stream_->stream = world_.network.Connect(
      {host_,
       [this, alive = process_.alive(), id = stream_->id](absl::Status why) {
         if (!alive.expired()) OnBroken(id, why);
       }},
      {kCoordinator, [&world = world_, id = stream_->id](absl::Status) {
         if (world.coordinator_node() != nullptr)
           world.coordinator_node()->OnClosed(id);
       }});
}

void WorkerSession::OnMessage(uint64_t id, const OrdersMessage& message) {
  Post(id, [this, message] {
    protocol::HeardOrders heard = protocol::OrdersFromProto(*message);
    for (const protocol::HeardOrders::Refused& job : heard.refused) {
      world_.observer.OnBroken(absl::StrCat(
          "worker ", host_, " refused orders: ", job.why.ToString()));
    }
    events_->OnOrders(std::move(heard));
  });
}

void WorkerSession::OnBroken(uint64_t id, const absl::Status& why) {
  Post(id, [this, why] {
    stream_.reset();
    events_->OnEnd(why);
  });
}

void WorkerSession::Write(const protocol::StatusFacts& facts) {
  const std::shared_ptr<v1::Status> status = world_.status_pool.Take();
  StatusToProto(facts, status.get());
  const size_t bytes = status->ByteSizeLong();
  world_.history.Add(world_.timeline.now(), "status ", host_, " ",
                     facts.counter, " ", bytes);
  if (world_.network.link(host_, kCoordinator).cuts > 0) {
    stream_->stream->Break(absl::UnavailableError("the connection broke"));
    return;
  }
  world_.network.Send(
      host_, kCoordinator, bytes,
      [&world = world_, session = stream_, status = StatusMessage(status)] {
        if (world.coordinator_node() == nullptr) {
          session->stream->Close(
              Session::kCoordinatorEnd,
              absl::UnavailableError("no coordinator is there"));
          return;
        }
        world.coordinator_node()->OnStatus(session, status);
      });
  process_.RunAt(process_.Now() + kWriting, [this, id = stream_->id] {
    if (stream_ != nullptr && stream_->id == id) events_->OnWritten();
  });
}

void WorkerSession::Cancel() {
  const absl::Status why = absl::CancelledError("the worker closes it");
  stream_->stream->Close(Session::kWorkerEnd, why);
  OnBroken(stream_->id, why);
}

bool WorkerSession::IsConnected() {
  return world_.coordinator_node() != nullptr &&
         world_.network.link(host_, kCoordinator).cuts == 0 &&
         world_.network.link(kCoordinator, host_).cuts == 0;
}

}  // namespace skerry::sim
