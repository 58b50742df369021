#include "worker/daemon/peer_book.h"

#include <utility>

namespace skerry::worker {

void PeerBook::Learn(const protocol::JobOrders& orders) {
  auto& replicas = jobs_[orders.job.value()];
  absl::btree_map<uint64_t, Workers> named;
  for (const protocol::FragmentOrders& fragment : orders.fragments) {
    if (!fragment.open.has_value()) continue;
    for (const protocol::Member& member : fragment.open->members) {
      for (const protocol::SpanHolder& holder : member.holders) {
        named[member.replica.value()].insert(holder.peer.worker);
      }
    }
  }
  for (auto& [replica, workers] : named) {
    replicas[replica] = std::move(workers);
  }
}

void PeerBook::KeepOnly(const std::set<uint64_t>& jobs) {
  absl::erase_if(jobs_,
                 [&](const auto& one) { return !jobs.contains(one.first); });
}

bool PeerBook::MaySpeakFor(JobId job, ReplicaId replica,
                           const std::string& worker) const {
  const auto of_job = jobs_.find(job.value());
  if (of_job == jobs_.end()) return true;
  const auto workers = of_job->second.find(replica.value());
  return workers == of_job->second.end() || workers->second.contains(worker);
}

void ForEachPeer(const protocol::JobOrders& orders,
                 absl::FunctionRef<void(const protocol::PeerAddress&)> visit) {
  for (const protocol::SpanHolder& holder : orders.holders) visit(holder.peer);
  for (const protocol::FragmentOrders& fragment : orders.fragments) {
    for (const protocol::Source& source : fragment.sources) {
      visit(source.holder.peer);
    }
    if (!fragment.open.has_value()) continue;
    for (const protocol::Member& member : fragment.open->members) {
      for (const protocol::SpanHolder& holder : member.holders) {
        visit(holder.peer);
      }
    }
  }
}

}  // namespace skerry::worker
