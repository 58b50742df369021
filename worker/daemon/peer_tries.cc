#include "worker/daemon/peer_tries.h"

#include <utility>

#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kLogEvery = absl::Minutes(1);

}  // namespace

PeerTries::PeerTries(runtime::EventLoop& loop, DialPeer dial,
                     bool outbound_only, std::function<void()> on_change)
    : loop_(loop),
      dial_(std::move(dial)),
      outbound_only_(outbound_only),
      on_change_(std::move(on_change)) {}

void PeerTries::OnOrders(const protocol::Orders& orders,
                         const std::vector<std::string>& missed) {
  const bool is_reversed = !outbound_only_ && !orders.awaited_by.empty();
  if (std::exchange(is_reversed_, is_reversed) != is_reversed) {
    runtime::Log(
        is_reversed ? runtime::Severity::kWarning : runtime::Severity::kInfo,
        is_reversed ? "worker.reach.reversed" : "worker.reach.dialled",
        {{"peers", orders.awaited_by.size()}});
  }
  if (!dial_) return;
  book_.Learn(orders.tries, loop_.Now());
  book_.Miss(missed, loop_.Now());
  Pump();
}

void PeerTries::Pump() {
  for (const protocol::TryOrder& order : book_.TakeDue(loop_.Now())) {
    dial_(order, [this, alive = std::weak_ptr<char>(alive_),
                  order](absl::StatusOr<double> outcome) {
      if (!alive.expired()) OnOutcome(order, outcome);
    });
  }
  const std::optional<Instant> next = book_.NextDue();
  if (!next.has_value() || (armed_for_.has_value() && *armed_for_ <= *next)) {
    return;
  }
  armed_for_ = next;
  loop_.RunAt(*next, [this, alive = std::weak_ptr<char>(alive_), next] {
    if (alive.expired()) return;
    if (armed_for_ == next) armed_for_.reset();
    Pump();
  });
}

void PeerTries::OnOutcome(const protocol::TryOrder& order,
                          const absl::StatusOr<double>& outcome) {
  ++(outcome.ok() ? answered_ : unanswered_);
  const auto news = book_.OnOutcome(order, outcome, loop_.Now());
  if (news.has_value()) {
    Log(*news);
    on_change_();
  }
  Pump();
}

void PeerTries::Log(const protocol::Tried& told) {
  const auto [it, fresh] = logged_.try_emplace(told.worker, loop_.Now());
  if (!fresh && loop_.Now() - it->second < kLogEvery) return;
  it->second = loop_.Now();
  if (told.ok()) {
    runtime::Log(
        runtime::Severity::kInfo, "worker.peer.reached",
        {{"peer", told.worker}, {"round_trip_ms", told.round_trip_ms}});
  } else {
    runtime::Log(runtime::Severity::kWarning, "worker.peer.not_reached",
                 {{"peer", told.worker}, {"cause", told.error}});
  }
}

std::vector<protocol::Tried> PeerTries::Told() const {
  return book_.Told(loop_.Now());
}

void PeerTries::AddMetrics(std::vector<runtime::Metric>& metrics) const {
  runtime::Metric tries{
      .name = "skerry_worker_peer_tries_total",
      .help =
          "How often this worker has dialled others to find out whether "
          "it can.",
      .kind = runtime::Metric::Kind::kCounter,
      .samples = {}};
  tries.samples.push_back(
      {{{"outcome", "answered"}}, static_cast<double>(answered_)});
  tries.samples.push_back(
      {{{"outcome", "unanswered"}}, static_cast<double>(unanswered_)});
  metrics.push_back(std::move(tries));
}

}  // namespace skerry::worker
