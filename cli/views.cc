#include "cli/views.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/job_words.h"
#include "cli/reach_diagnosis.h"
#include "cli/table.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

struct Losses {
  std::string training;
  std::string validation;
};

// The newest of each.
Losses NewestLosses(const v1::JobView& job) {
  Losses newest;
  if (job.losses_size() > 0 && job.losses().rbegin()->has_training_loss()) {
    newest.training = LossText(job.losses().rbegin()->training_loss());
  }
  for (auto it = job.losses().rbegin(); it != job.losses().rend(); ++it) {
    if (!it->has_validation_loss()) continue;
    newest.validation = LossText(it->validation_loss());
    break;
  }
  return newest;
}

// "2/3": replicas in a life, of those that are seated.
std::string ReplicasText(const v1::JobView& job) {
  int alive = 0;
  for (const v1::ReplicaView& replica : job.replicas()) {
    if (replica.life() != 0) ++alive;
  }
  return absl::StrCat(alive, "/", job.replicas_size());
}

struct Island {
  uint64_t workers = 0;
  std::map<std::string, uint64_t> by_state;
  std::set<std::string> jobs;
};

std::map<std::string, Island> IslandsOf(const v1::ListWorkersReply& workers) {
  std::map<std::string, Island> islands;
  for (const v1::WorkerView& worker : workers.workers()) {
    Island& island = islands[worker.island()];
    ++island.workers;
    ++island.by_state[worker.state()];
    island.jobs.insert(worker.jobs().begin(), worker.jobs().end());
  }
  return islands;
}

constexpr const char* kWorkerStates[] = {"connected", "suspected", "lost",
                                         "draining",  "cordoned",  "drained"};

// "name:" padded, then the value; nothing when there is no value.
void AddFact(const std::string& name, const std::string& value,
             std::string* text) {
  if (value.empty()) return;
  absl::StrAppendFormat(text, "%-16s %s\n", name + ":", Printable(value));
}

std::string RangesText(
    const google::protobuf::RepeatedPtrField<v1::SampleRange>& ranges) {
  constexpr int kShown = 8;
  std::vector<std::string> parts;
  for (const v1::SampleRange& range : ranges) {
    if (static_cast<int>(parts.size()) == kShown) {
      parts.push_back(absl::StrCat("and ", ranges.size() - kShown, " more"));
      break;
    }
    parts.push_back(absl::StrCat("[", range.begin(), ", ", range.end(), ")"));
  }
  return parts.empty() ? "none" : absl::StrJoin(parts, " ");
}

// "2/3": the second of three that wait; empty of a job that does not wait.
std::string QueueText(const v1::JobView& job) {
  if (!job.has_queue()) return "";
  return absl::StrCat(job.queue().position(), "/", job.queue().length());
}

// Why the job does not move, the first thing that is wrong with it, or why it
// did not succeed.
std::string NoteText(const v1::JobView& job) {
  if (!job.conditions().empty()) return job.conditions(0).text();
  const bool lost = job.phase() == v1::JOB_PHASE_FAILED ||
                    job.phase() == v1::JOB_PHASE_CANCELLED;
  return lost ? job.reason() : "";
}

std::vector<Column> JobColumns() {
  return {{"NAME"},
          {"ID", Align::kRight},
          {"PHASE"},
          {"QUEUE", Align::kRight},
          {"DONE", Align::kRight},
          {"SEQUENCE", Align::kRight},
          {"LOSS", Align::kRight},
          {"VALIDATION", Align::kRight},
          {"TOKENS/S", Align::kRight},
          {"REPLICAS", Align::kRight},
          {"AGE", Align::kRight}};
}

std::vector<std::string> JobCells(const v1::JobView& job) {
  const Losses losses = NewestLosses(job);
  return {job.spec().name(),
          absl::StrCat(job.id()),
          PhaseText(job.phase()),
          QueueText(job),
          PercentText(job.samples_committed(), job.samples_total()),
          absl::StrCat(job.sequence()),
          losses.training,
          losses.validation,
          SpeedCell(job),
          ReplicasText(job),
          AgeText(job.age_ms())};
}

std::vector<Column> WorkerColumns() {
  return {{"NAME"},
          {"ISLAND"},
          {"STATE"},
          {"ADDRESS"},
          {"INCARNATION", Align::kRight},
          {"HEARD", Align::kRight},
          {"JOBS"},
          {"RELEASE"}};
}

std::vector<std::string> WorkerCells(const v1::WorkerView& worker) {
  return {worker.worker(),
          worker.island(),
          worker.state(),
          worker.address(),
          absl::StrCat(worker.incarnation()),
          AgeText(worker.silence_ms()),
          absl::StrJoin(worker.jobs(), ","),
          worker.release()};
}

std::string IntentText(v1::WorkerIntent intent) {
  const std::string& name = v1::WorkerIntent_Name(intent);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "WORKER_INTENT_"));
}

std::string ProgramNames(const v1::WorkerView& worker) {
  std::vector<std::string> names;
  for (const v1::WorkerView::Program& program : worker.programs()) {
    names.push_back(program.name());
  }
  return absl::StrJoin(names, ",");
}

// A line for each worker that has no part in its island.
std::string ApartLines(const v1::ListWorkersReply& workers) {
  std::string text;
  for (const v1::WorkerView& worker : workers.workers()) {
    if (worker.apart().empty()) continue;
    absl::StrAppend(
        &text, Printable(absl::StrCat(worker.worker(), ": ", worker.apart())),
        "\n");
  }
  return text;
}

}  // namespace

std::string JobsTable(const v1::ListJobsReply& jobs) {
  std::vector<Column> columns = JobColumns();
  columns.push_back({"NOTE"});
  Table table(std::move(columns));
  for (const v1::JobView& job : jobs.jobs()) {
    std::vector<std::string> cells = JobCells(job);
    cells.push_back(NoteText(job));
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

std::string WideJobsTable(const v1::ListJobsReply& jobs) {
  std::vector<Column> columns = JobColumns();
  columns.push_back({"PRIORITY", Align::kRight});
  for (const char* title : {"OWNER", "METHOD", "CODEC"}) {
    columns.push_back({title});
  }
  for (const char* title : {"PARAMETERS", "STALLED", "SENT"}) {
    columns.push_back({title, Align::kRight});
  }
  columns.push_back({"REASON"});
  Table table(std::move(columns));
  for (const v1::JobView& job : jobs.jobs()) {
    const v1::JobCounters& counters = job.counters();
    const double busy = counters.compute_s() + counters.stall_s();
    std::vector<std::string> cells = JobCells(job);
    cells.push_back(absl::StrCat(job.spec().queue().priority()));
    cells.push_back(job.spec().queue().owner());
    cells.push_back(MethodText(job.spec().outer().method()));
    cells.push_back(job.spec().exchange().codec());
    cells.push_back(job.parameters() == 0 ? ""
                                          : absl::StrCat(job.parameters()));
    cells.push_back(
        busy > 0 ? absl::StrFormat("%.1f%%", 100 * counters.stall_s() / busy)
                 : "");
    cells.push_back(BytesText(counters.bulk_sent_bytes()));
    cells.push_back(job.reason());
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

std::string WorkersTable(const v1::ListWorkersReply& workers) {
  Table table(WorkerColumns());
  for (const v1::WorkerView& worker : workers.workers()) {
    table.AddRow(WorkerCells(worker));
  }
  return table.Text() + ApartLines(workers);
}

std::string WideWorkersTable(const v1::ListWorkersReply& workers) {
  std::vector<Column> columns = WorkerColumns();
  columns.push_back({"REACHED"});
  columns.push_back({"DIALLED BY"});
  columns.push_back({"INTENT"});
  columns.push_back({"DRAINS FOR"});
  const bool has_programs = std::any_of(
      workers.workers().begin(), workers.workers().end(),
      [](const v1::WorkerView& worker) { return worker.programs_size() > 0; });
  if (has_programs) columns.push_back({"PROGRAMS"});
  Table table(std::move(columns));
  for (const v1::WorkerView& worker : workers.workers()) {
    std::vector<std::string> cells = WorkerCells(worker);
    cells.push_back(worker.reached());
    cells.push_back(TriedText(worker));
    cells.push_back(IntentText(worker.intent()));
    cells.push_back(worker.drain_reason());
    if (has_programs) cells.push_back(ProgramNames(worker));
    table.AddRow(std::move(cells));
  }
  return table.Text() + ApartLines(workers);
}

std::string JobNames(const v1::ListJobsReply& jobs) {
  std::string text;
  for (const v1::JobView& job : jobs.jobs()) {
    absl::StrAppend(&text, Printable(job.spec().name()), "\n");
  }
  return text;
}

std::string WorkerNames(const v1::ListWorkersReply& workers) {
  std::string text;
  for (const v1::WorkerView& worker : workers.workers()) {
    absl::StrAppend(&text, Printable(worker.worker()), "\n");
  }
  return text;
}

std::string IslandsJson(const v1::ListWorkersReply& workers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, island] : IslandsOf(workers)) {
    nlohmann::ordered_json item = {{"island", name},
                                   {"workers", island.workers}};
    for (const char* state : kWorkerStates) {
      const auto it = island.by_state.find(state);
      item[state] = it == island.by_state.end() ? 0 : it->second;
    }
    item["jobs"] = island.jobs;
    list.push_back(std::move(item));
  }
  const nlohmann::ordered_json reply = {{"islands", std::move(list)}};
  return reply.dump(1, ' ', false,
                    nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

std::string AuditDescription(const v1::AuditDataReply& audit) {
  std::string text;
  AddFact("Samples",
          absl::StrCat(
              audit.samples_committed(), " of ", audit.samples_total(), " (",
              PercentText(audit.samples_committed(), audit.samples_total()),
              ") committed"),
          &text);
  AddFact("Commits",
          absl::StrCat(audit.commits(), ", with ", audit.contributions(),
                       " contributions"),
          &text);
  AddFact("Missing", RangesText(audit.missing()), &text);
  AddFact("Doubled", RangesText(audit.doubled()), &text);
  AddFact("Returned",
          absl::StrCat(audit.samples_returned(),
                       " samples were given out again after a loss"),
          &text);
  if (audit.fragments() > 1) {
    AddFact("Partly covered",
            absl::StrCat(audit.samples_partly(), " samples are in some of ",
                         audit.fragments(), " fragments and not in all"),
            &text);
  }
  return text;
}

std::string ProgressLine(const v1::JobView& job) {
  const Losses losses = NewestLosses(job);
  std::string line = absl::StrFormat(
      "%-9s  seq %-5d  %6s", PhaseText(job.phase()), job.sequence(),
      PercentText(job.samples_committed(), job.samples_total()));
  if (!losses.training.empty() || HasTokens(job)) {
    absl::StrAppend(&line, "  loss ",
                    losses.training.empty() ? "-" : losses.training);
  }
  if (!losses.validation.empty()) {
    absl::StrAppend(&line, "  validation ", losses.validation);
  }
  absl::StrAppend(&line, "  ", SpeedText(job), "  replicas ",
                  ReplicasText(job));
  if (!job.reason().empty()) absl::StrAppend(&line, "  ", job.reason());
  return Printable(line);
}

std::string WideProgressLine(const v1::JobView& job) {
  const std::string metrics = MetricsText(job);
  return absl::StrCat(ProgressLine(job), metrics.empty() ? "" : "  ",
                      Printable(metrics));
}

bool ProgressDiffers(const v1::JobView& before, const v1::JobView& now) {
  v1::JobView as_fast = now;
  as_fast.mutable_counters()->set_tokens_per_s(
      before.counters().tokens_per_s());
  as_fast.mutable_counters()->set_samples_per_s(
      before.counters().samples_per_s());
  return ProgressLine(before) != ProgressLine(as_fast);
}

std::string EventLine(const v1::Event& event) {
  return Printable(absl::StrFormat("%8s ago  %6d  %-19s  %s",
                                   AgeText(event.age_ms()), event.revision(),
                                   event.name(), event.message()));
}

}  // namespace skerry::cli
