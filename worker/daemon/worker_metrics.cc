#include "worker/daemon/worker_metrics.h"

#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::worker {
namespace {

using protocol::FragmentFacts;
using protocol::JobFacts;
using protocol::SeatState;
using runtime::Metric;
using Kind = runtime::Metric::Kind;
using Labels = std::vector<std::pair<std::string, std::string>>;

double Number(uint64_t value) { return static_cast<double>(value); }

Metric Single(std::string name, std::string help, Kind kind, double value) {
  return {std::move(name), std::move(help), kind, {{{}, value}}};
}

const char* NameOf(SeatState state) {
  switch (state) {
    case SeatState::kStarting:
      return "starting";
    case SeatState::kRecovering:
      return "recovering";
    case SeatState::kActive:
      return "active";
    case SeatState::kResting:
      return "resting";
    case SeatState::kFailed:
      return "failed";
  }
  return "unknown";
}

Metric SeatCensus(const protocol::StatusFacts& status) {
  std::map<std::string, uint64_t> counts = {{"starting", 0},
                                            {"recovering", 0},
                                            {"active", 0},
                                            {"resting", 0},
                                            {"failed", 0}};
  for (const JobFacts& job : status.jobs) ++counts[NameOf(job.state)];
  Metric metric{"skerry_worker_seats",
                "Jobs of this worker, by state.",
                Kind::kGauge,
                {}};
  for (const auto& [state, count] : counts) {
    metric.samples.push_back({{{"state", state}}, Number(count)});
  }
  return metric;
}

struct SeatMetric {
  const char* name;
  const char* help;
  Kind kind;
  std::function<double(const JobFacts&)> value;
};

// The first fragment; there is one once the seat is.
FragmentFacts FragmentOf(const JobFacts& job) {
  return job.fragments.empty() ? FragmentFacts() : job.fragments[0];
}

std::vector<SeatMetric> SeatMetrics() {
  return {
      {"skerry_worker_applied_sequence", "The anchor's sequence.", Kind::kGauge,
       [](const JobFacts& job) {
         return Number(FragmentOf(job).applied.value());
       }},
      {"skerry_worker_owed_norm",
       "Norm of what this worker has produced and the model has not received.",
       Kind::kGauge,
       [](const JobFacts& job) { return FragmentOf(job).owed_norm; }},
      {"skerry_worker_samples_total", "Samples that were trained on.",
       Kind::kCounter,
       [](const JobFacts& job) { return Number(job.counters.samples); }},
      {"skerry_worker_rounds_total", "Rounds that ended.", Kind::kCounter,
       [](const JobFacts& job) { return Number(job.counters.rounds); }},
      {"skerry_worker_sent_bytes_total", "Bytes sent to other workers.",
       Kind::kCounter,
       [](const JobFacts& job) {
         return Number(job.counters.bulk_sent_bytes);
       }},
      {"skerry_worker_received_bytes_total",
       "Bytes received from other workers.", Kind::kCounter,
       [](const JobFacts& job) {
         return Number(job.counters.bulk_received_bytes);
       }},
      {"skerry_worker_compute_seconds_total", "Seconds of inner steps.",
       Kind::kCounter,
       [](const JobFacts& job) { return job.counters.compute_s; }},
      {"skerry_worker_stall_seconds_total",
       "Seconds at boundaries with nothing to compute.", Kind::kCounter,
       [](const JobFacts& job) { return job.counters.stall_s; }},
      {"skerry_worker_trainer_restarts_total", "Trainers that were lost.",
       Kind::kCounter,
       [](const JobFacts& job) {
         return Number(job.counters.trainer_restarts);
       }},
  };
}

Labels LabelsOf(const WorkerFacts& facts, const JobFacts& job) {
  const auto name = facts.job_names.find(job.job.value());
  return {{"job", name == facts.job_names.end() ? "" : name->second},
          {"id", absl::StrCat(job.job.value())}};
}

Metric Links(const WorkerFacts& facts) {
  Metric metric{"skerry_worker_link_bytes_per_second",
                "Measured rate to another worker.",
                Kind::kGauge,
                {}};
  for (const JobFacts& job : facts.status.jobs) {
    for (const protocol::PeerLink& link : job.links) {
      Labels labels = LabelsOf(facts, job);
      labels.emplace_back("peer", link.worker);
      metric.samples.push_back({std::move(labels), link.bytes_per_s});
    }
  }
  return metric;
}

}  // namespace

std::vector<Metric> MetricsOf(const WorkerFacts& facts) {
  std::vector<Metric> out;
  out.push_back({"skerry_build_info",
                 "1; the label says which release runs.",
                 Kind::kGauge,
                 {{{{"release", facts.status.release}}, 1}}});
  out.push_back(Single("skerry_worker_connected",
                       "1 while the coordinator answers.", Kind::kGauge,
                       facts.connected ? 1 : 0));
  out.push_back(Single("skerry_worker_sessions_lost_total",
                       "Sessions with the coordinator that ended.",
                       Kind::kCounter, Number(facts.sessions_lost)));
  out.push_back(Single("skerry_worker_draining", "1 while the worker drains.",
                       Kind::kGauge, facts.status.draining ? 1 : 0));
  out.push_back(SeatCensus(facts.status));
  for (const SeatMetric& one : SeatMetrics()) {
    Metric metric{one.name, one.help, one.kind, {}};
    for (const JobFacts& job : facts.status.jobs) {
      metric.samples.push_back({LabelsOf(facts, job), one.value(job)});
    }
    out.push_back(std::move(metric));
  }
  out.push_back(Links(facts));
  return out;
}

}  // namespace skerry::worker
