#include "cli/top_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/job_words.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

bool HasEnded(v1::JobPhase phase) {
  return phase == v1::JOB_PHASE_SUCCEEDED || phase == v1::JOB_PHASE_FAILED ||
         phase == v1::JOB_PHASE_CANCELLED;
}

std::string LossOf(const v1::JobView& job) {
  return job.losses_size() == 0 || !job.losses().rbegin()->has_training_loss()
             ? ""
             : LossText(job.losses().rbegin()->training_loss());
}

// "12m30s" until all samples are committed at this speed.
std::string LeftText(const v1::JobView& job, double samples_per_s) {
  const uint64_t left = job.samples_total() -
                        std::min(job.samples_total(), job.samples_committed());
  if (left == 0 || samples_per_s <= 0) return "";
  const double ms = 1000 * static_cast<double>(left) / samples_per_s;
  return ms < 1e15 ? AgeText(static_cast<uint64_t>(ms)) : "";
}

// Samples a second since the job or the coordinator began.
double AverageRate(const v1::JobView& job) {
  if (job.tokens_per_sample() == 0) return job.counters().samples_per_s();
  return job.counters().tokens_per_s() / job.tokens_per_sample();
}

std::string SummaryOf(const v1::ListJobsReply& jobs,
                      const v1::ListWorkersReply& workers) {
  int unfinished = 0;
  for (const v1::JobView& job : jobs.jobs()) {
    if (!HasEnded(job.phase())) ++unfinished;
  }
  std::map<std::string, int> by_state;
  for (const v1::WorkerView& worker : workers.workers()) {
    ++by_state[worker.state()];
  }
  std::string text =
      absl::StrCat(unfinished, " of ", jobs.jobs_size(), " jobs unfinished, ",
                   workers.workers_size(), " workers");
  for (const auto& [state, count] : by_state) {
    absl::StrAppend(&text, ", ", count, " ", state);
  }
  return Printable(text) + "\n";
}

std::string TopWorkers(const v1::ListWorkersReply& workers) {
  Table table(
      {{"WORKER"}, {"ISLAND"}, {"STATE"}, {"HEARD", Align::kRight}, {"JOBS"}});
  for (const v1::WorkerView& worker : workers.workers()) {
    table.AddRow({worker.worker(), worker.island(), worker.state(),
                  AgeText(worker.silence_ms()),
                  absl::StrJoin(worker.jobs(), ",")});
  }
  return table.Text();
}

}  // namespace

std::string TopView::Text(const v1::ListJobsReply& jobs,
                          const v1::ListWorkersReply& workers) {
  Table table({{"JOB"},
               {"PHASE"},
               {"DONE", Align::kRight},
               {"SEQUENCE", Align::kRight},
               {"LOSS", Align::kRight},
               {"TOKENS/S", Align::kRight},
               {"STALLED", Align::kRight},
               {"SENT", Align::kRight},
               {"LEFT", Align::kRight}});
  std::map<uint64_t, Seen> seen;
  for (const v1::JobView& job : jobs.jobs()) {
    if (HasEnded(job.phase())) continue;
    const Seen now{job.age_ms(), job.samples_committed(),
                   job.counters().compute_s(), job.counters().stall_s()};
    // A coordinator that was started anew counts its ages and totals anew.
    Seen before = seen_[job.id()];
    if (before.age_ms >= now.age_ms || before.compute_s > now.compute_s ||
        before.stall_s > now.stall_s) {
      before = Seen{};
    }
    const bool first = before.age_ms == 0;
    const double seconds =
        static_cast<double>(now.age_ms - before.age_ms) / 1000;
    // What was committed before a restart is no speed of this process.
    const double samples_per_s =
        first ? AverageRate(job)
              : static_cast<double>(now.samples - before.samples) / seconds;
    const double stalled = now.stall_s - before.stall_s;
    const double busy = now.compute_s - before.compute_s + stalled;
    table.AddRow(
        {job.spec().name(), PhaseText(job.phase()),
         PercentText(job.samples_committed(), job.samples_total()),
         absl::StrCat(job.sequence()), LossOf(job),
         job.spec().model().has_program()
             ? SamplesRateText(samples_per_s)
             : absl::StrFormat("%.0f", samples_per_s * job.tokens_per_sample()),
         busy > 0 ? absl::StrFormat("%.1f%%", 100 * stalled / busy) : "",
         BytesText(job.counters().bulk_sent_bytes()),
         LeftText(job, samples_per_s)});
    seen[job.id()] = now;
  }
  seen_ = std::move(seen);
  return absl::StrCat(SummaryOf(jobs, workers), "\n", table.Text(), "\n",
                      TopWorkers(workers));
}

}  // namespace skerry::cli
