#include "worker/shell/peer_book.h"

#include <utility>

namespace skerry::worker {

void PeerBook::Learn(const protocol::JobOrders& orders) {
  OfJob& job = jobs_[orders.job.value()];
  LearnReplicas(orders, job);
  LearnWorkers(orders, job);
  job.life = orders.life;
  job.ranks.clear();
  for (const protocol::SpanHolder& holder : orders.holders) {
    job.ranks.push_back(holder.peer.worker);
  }
}

void PeerBook::LearnReplicas(const protocol::JobOrders& orders, OfJob& job) {
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
    job.replicas[replica] = std::move(workers);
  }
}

void PeerBook::LearnWorkers(const protocol::JobOrders& orders, OfJob& job) {
  Workers named(orders.workers.begin(), orders.workers.end());
  // Other releases name some of the workers, and never the receiver.
  if (!named.contains(self_)) {
    job.workers.reset();
    job.asked.clear();
    return;
  }
  // Members of an exchange may fetch its result although they are lost to the
  // coordinator.
  ForEachPeer(orders, [&](const protocol::PeerAddress& peer) {
    named.insert(peer.worker);
  });
  absl::erase_if(job.asked,
                 [&](const auto& one) { return named.contains(one.first); });
  job.workers = std::move(named);
}

void PeerBook::KeepOnly(const std::set<uint64_t>& jobs) {
  absl::erase_if(jobs_,
                 [&](const auto& one) { return !jobs.contains(one.first); });
}

bool PeerBook::MaySpeakFor(JobId job, ReplicaId replica,
                           const std::string& worker) const {
  const auto of_job = jobs_.find(job.value());
  if (of_job == jobs_.end()) return true;
  const auto workers = of_job->second.replicas.find(replica.value());
  return workers == of_job->second.replicas.end() ||
         workers->second.contains(worker);
}

PeerBook::FetchRight PeerBook::MayFetch(JobId job, const std::string& worker,
                                        Instant now) {
  const auto of_job = jobs_.find(job.value());
  if (of_job == jobs_.end() || !of_job->second.workers.has_value() ||
      of_job->second.workers->contains(worker)) {
    return FetchRight::kYes;
  }
  auto& asked = of_job->second.asked;
  if (!asked.contains(worker) && asked.size() >= kAskersMax) {
    return FetchRight::kNo;
  }
  const Instant first = asked.try_emplace(worker, now).first->second;
  return now - first < kNamedWithin ? FetchRight::kNotYet : FetchRight::kNo;
}

bool PeerBook::MayAskCut(JobId job, Life life, uint32_t rank,
                         const std::string& worker) const {
  const auto of_job = jobs_.find(job.value());
  if (of_job == jobs_.end() || of_job->second.life != life) return true;
  const std::vector<std::string>& ranks = of_job->second.ranks;
  return rank >= ranks.size() || ranks[rank] == worker;
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
