#include "coordinator/service/coordinator_metrics.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/release.h"

namespace skerry::coordinator {
namespace {

using runtime::Metric;
using Kind = runtime::Metric::Kind;
using Labels = std::vector<std::pair<std::string, std::string>>;

Metric Single(std::string name, std::string help, Kind kind, double value) {
  return {std::move(name), std::move(help), kind, {{{}, value}}};
}

double Number(uint64_t value) { return static_cast<double>(value); }

const char* NameOf(JobPhase phase) {
  switch (phase) {
    case JobPhase::kPending:
      return "pending";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kSucceeded:
      return "succeeded";
    case JobPhase::kFailed:
      return "failed";
    case JobPhase::kCancelled:
      return "cancelled";
  }
  return "";
}

// How many there are of each kind, kinds without any included.
Metric Census(std::string name, std::string help, const std::string& label,
              const std::map<std::string, uint64_t>& counts) {
  Metric metric{std::move(name), std::move(help), Kind::kGauge, {}};
  for (const auto& [kind, count] : counts) {
    metric.samples.push_back({{{label, kind}}, Number(count)});
  }
  return metric;
}

Metric WorkerCensus(const std::vector<WorkerView>& workers) {
  std::map<std::string, uint64_t> counts = {{"connected", 0}, {"suspected", 0},
                                            {"draining", 0},  {"lost", 0},
                                            {"cordoned", 0},  {"drained", 0}};
  for (const WorkerView& worker : workers) ++counts[worker.state];
  return Census("skerry_workers", "Workers that are remembered, by state.",
                "state", counts);
}

// One sample a job that has the number.
struct JobMetric {
  const char* name;
  const char* help;
  Kind kind;
  std::function<std::optional<double>(const JobView&)> value;
};

// How fast and how well a job trains.
std::vector<JobMetric> TrainingMetrics() {
  return {
      {"skerry_job_tokens_per_second",
       "Tokens committed a second since the job or the process began.",
       Kind::kGauge,
       [](const JobView& job) { return job.counters.tokens_per_s; }},
      {"skerry_job_samples_per_second",
       "Samples committed a second since the job or the process began.",
       Kind::kGauge,
       [](const JobView& job) { return job.counters.samples_per_s; }},
      {"skerry_job_training_loss", "Of the newest commit, nats a token.",
       Kind::kGauge,
       [](const JobView& job) -> std::optional<double> {
         if (job.losses.empty()) return std::nullopt;
         return job.losses.back().training_loss;
       }},
      {"skerry_job_own_share",
       "How much of a replica's own round the newest mean held; 1 when all "
       "replicas agree.",
       Kind::kGauge,
       [](const JobView& job) -> std::optional<double> {
         if (job.own_share == 0) return std::nullopt;
         return job.own_share;
       }},
      {"skerry_job_late_steps",
       "Inner steps that replicas took until a result was in their live "
       "parameters, as of the newest commit.",
       Kind::kGauge,
       [](const JobView& job) -> std::optional<double> {
         if (job.own_share == 0) return std::nullopt;
         return job.late_steps;
       }},
  };
}

// What a job has done, and what stands open in it.
std::vector<JobMetric> ProgressMetrics(const ShellFacts& shell) {
  return {
      {"skerry_job_commits_total", "Committed results.", Kind::kCounter,
       [](const JobView& job) { return Number(job.counters.commits); }},
      {"skerry_job_attempts_total", "Exchanges that were opened.",
       Kind::kCounter,
       [](const JobView& job) { return Number(job.counters.attempts); }},
      {"skerry_job_lives_total", "Admissions of replicas.", Kind::kCounter,
       [](const JobView& job) { return Number(job.counters.lives); }},
      {"skerry_job_dropped_contributions_total",
       "Contributions that were dropped.", Kind::kCounter,
       [](const JobView& job) {
         return Number(job.counters.contributions_dropped);
       }},
      {"skerry_job_committed_samples_total", "Samples that are committed.",
       Kind::kCounter,
       [](const JobView& job) { return Number(job.samples_committed); }},
      {"skerry_job_samples", "Samples that the job trains on.", Kind::kGauge,
       [](const JobView& job) { return Number(job.samples_total); }},
      {"skerry_job_replicas", "Replicas with a current life.", Kind::kGauge,
       [](const JobView& job) {
         uint64_t alive = 0;
         for (const ReplicaView& replica : job.replicas) {
           alive += replica.life.is_set() ? 1 : 0;
         }
         return Number(alive);
       }},
      {"skerry_job_sent_bytes_total",
       "Bytes that workers sent to each other, as they reported.",
       Kind::kCounter,
       [](const JobView& job) { return Number(job.counters.bulk_sent_bytes); }},
      {"skerry_job_compute_seconds_total",
       "Seconds of inner steps, over all workers, as they reported.",
       Kind::kCounter,
       [](const JobView& job) { return job.counters.compute_s; }},
      {"skerry_job_stall_seconds_total",
       "Seconds that workers waited, over all, as they reported.",
       Kind::kCounter, [](const JobView& job) { return job.counters.stall_s; }},
      {"skerry_job_open_attempt_tries",
       "Attempts of the open exchange so far; 0 when none is open.",
       Kind::kGauge, [](const JobView& job) { return Number(job.open_tries); }},
      {"skerry_job_checkpoint_sequence",
       "Sequence of the newest checkpoint that was saved; 0 when none was.",
       Kind::kGauge,
       [](const JobView& job) { return Number(job.checkpoint.value()); }},
      {"skerry_job_round_seconds", "Between the newest two commits.",
       Kind::kGauge,
       [&shell](const JobView& job) -> std::optional<double> {
         const auto it = shell.rounds.find(job.id);
         if (it == shell.rounds.end() || !it->second.took.has_value()) {
           return std::nullopt;
         }
         return absl::ToDoubleSeconds(*it->second.took);
       }},
  };
}

void AddJobs(const std::vector<JobView>& jobs,
             const std::vector<JobMetric>& metrics, std::vector<Metric>& out) {
  for (const JobMetric& one : metrics) {
    Metric metric{one.name, one.help, one.kind, {}};
    for (const JobView& job : jobs) {
      const std::optional<double> value = one.value(job);
      if (!value.has_value()) continue;
      metric.samples.push_back(
          {{{"job", job.spec.name}, {"id", absl::StrCat(job.id.value())}},
           *value});
    }
    out.push_back(std::move(metric));
  }
}

void AddJournal(const Cluster& cluster, const ShellFacts& shell,
                std::vector<Metric>& out) {
  out.push_back(Single("skerry_journal_revision",
                       "Number of the newest record.", Kind::kGauge,
                       Number(cluster.revision().value())));
  out.push_back(Single("skerry_journal_records_total",
                       "Records made durable by this process.", Kind::kCounter,
                       Number(shell.records)));
  out.push_back(Single("skerry_journal_batches_total",
                       "Transactions in which they were.", Kind::kCounter,
                       Number(shell.batches)));
  out.push_back(Single("skerry_journal_sync_seconds_total",
                       "Spent until batches were durable.", Kind::kCounter,
                       absl::ToDoubleSeconds(shell.syncing)));
  out.push_back(Single("skerry_journal_snapshots_total",
                       "Snapshots made by this process.", Kind::kCounter,
                       Number(shell.snapshots)));
  out.push_back(Single("skerry_journal_snapshot_seconds_total",
                       "Spent until snapshots were durable.", Kind::kCounter,
                       absl::ToDoubleSeconds(shell.snapshotting)));
  out.push_back(Single("skerry_journal_snapshot_bytes",
                       "Size of the snapshot in the journal.", Kind::kGauge,
                       Number(shell.snapshot_bytes)));
  out.push_back(Single("skerry_journal_tail_records",
                       "Records after the snapshot.", Kind::kGauge,
                       Number(shell.tail_records)));
  out.push_back(Single("skerry_journal_tail_bytes",
                       "Size of the records after the snapshot.", Kind::kGauge,
                       Number(shell.tail_bytes)));
}

}  // namespace

Metric TrainerMetrics(const std::vector<JobView>& jobs) {
  Metric metric{"skerry_trainer_metric",
                "What trainers report of their last rounds beside the loss: "
                "the mean over the job's workers.",
                Kind::kGauge,
                {}};
  for (const JobView& job : jobs) {
    for (const auto& [name, value] : job.metrics) {
      metric.samples.push_back({{{"job", job.spec.name},
                                 {"id", absl::StrCat(job.id.value())},
                                 {"name", name}},
                                value});
    }
  }
  return metric;
}

Metric JobCensus(const std::vector<JobView>& jobs) {
  std::map<std::string, uint64_t> counts = {{"paused", 0}, {"diverged", 0}};
  for (const JobPhase phase :
       {JobPhase::kPending, JobPhase::kRunning, JobPhase::kSucceeded,
        JobPhase::kFailed, JobPhase::kCancelled}) {
    counts[NameOf(phase)] = 0;
  }
  for (const JobView& job : jobs) {
    ++counts[job.diverged ? "diverged"
             : job.paused ? "paused"
                          : NameOf(job.phase)];
  }
  return Census("skerry_jobs", "Jobs that are remembered, by phase.", "phase",
                counts);
}

std::vector<Metric> MetricsOf(const Cluster& cluster, Instant now,
                              const ShellFacts& shell) {
  std::vector<Metric> out;
  out.push_back({"skerry_build_info",
                 "1; the label says which release runs.",
                 Kind::kGauge,
                 {{{{"release", kRelease}}, 1}}});
  const std::vector<JobView> jobs = cluster.ViewJobs(now);
  out.push_back(JobCensus(jobs));
  const std::vector<WorkerView> workers = cluster.ViewWorkers(now);
  out.push_back(WorkerCensus(workers));
  out.push_back(Single(
      "skerry_workers_found_hidden",
      "Workers that nobody can dial although they were not started so.",
      Kind::kGauge,
      Number(std::count_if(
          workers.begin(), workers.end(),
          [](const WorkerView& worker) { return worker.found_hidden; }))));
  out.push_back(Single("skerry_control_streams",
                       "Streams of workers that are open.", Kind::kGauge,
                       Number(shell.streams)));
  out.push_back(Single("skerry_facts_waiting",
                       "Messages that wait for the batch before them.",
                       Kind::kGauge, Number(shell.facts_waiting)));
  AddJournal(cluster, shell, out);
  AddJobs(jobs, ProgressMetrics(shell), out);
  AddJobs(jobs, TrainingMetrics(), out);
  out.push_back(TrainerMetrics(jobs));
  return out;
}

}  // namespace skerry::coordinator
