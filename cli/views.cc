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
#include "cli/model_place.h"
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
  if (job.losses_size() > 0) {
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

std::string TokensText(double tokens_per_s) {
  return absl::StrFormat("%.0f", tokens_per_s);
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

std::string MethodText(v1::JobSpec::OuterMethod method) {
  const std::string& name = v1::JobSpec::OuterMethod_Name(method);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "OUTER_METHOD_"));
}

std::string SeatsTable(const v1::JobView& job) {
  Table table({{"REPLICA", Align::kRight},
               {"LIFE", Align::kRight},
               {"ISLAND"},
               {"WORKER"},
               {"STATE"},
               {"APPLIED", Align::kRight},
               {"SPANS"},
               {"ANCHOR"},
               {"OWED", Align::kRight},
               {"NOTE"}});
  for (const v1::ReplicaView& replica : job.replicas()) {
    for (const v1::SeatView& seat : replica.seats()) {
      std::string note =
          seat.error().empty() ? seat.trainer_trouble() : seat.error();
      if (note.empty() && replica.suspected()) note = "suspected";
      table.AddRow({absl::StrCat(replica.replica()),
                    replica.life() == 0 ? "" : absl::StrCat(replica.life()),
                    replica.island(), seat.worker(), seat.state(),
                    absl::StrCat(seat.applied()),
                    absl::StrCat(seat.span_begin(), "-", seat.span_end()),
                    seat.anchor_hash() == 0
                        ? ""
                        : absl::StrFormat("%016x", seat.anchor_hash()),
                    absl::StrFormat("%.3g", seat.owed_norm()),
                    std::move(note)});
    }
  }
  return table.Text();
}

std::string LossesTable(const v1::JobView& job) {
  constexpr int kRows = 10;
  Table table({{"SEQUENCE", Align::kRight},
               {"SAMPLES", Align::kRight},
               {"LOSS", Align::kRight},
               {"VALIDATION", Align::kRight}});
  const int first = std::max(0, job.losses_size() - kRows);
  for (int i = first; i < job.losses_size(); ++i) {
    const v1::LossPoint& point = job.losses(i);
    table.AddRow(
        {absl::StrCat(point.sequence()), absl::StrCat(point.samples()),
         LossText(point.training_loss()),
         point.has_validation_loss() ? LossText(point.validation_loss()) : ""});
  }
  return table.Text();
}

void AddCounters(const v1::JobView& job, std::string* text) {
  const v1::JobCounters& counters = job.counters();
  AddFact("Commits",
          absl::StrCat(counters.commits(), " of ", counters.attempts(),
                       " attempts, ", counters.contributions_dropped(),
                       " contributions dropped, ", counters.lives(), " lives"),
          text);
  std::string sent = BytesText(counters.bulk_sent_bytes());
  if (counters.bulk_sent_bytes() > 0 && counters.synchronous_bytes() > 0) {
    absl::StrAppendFormat(&sent,
                          ", %.0f x less than the %s of synchronous training",
                          static_cast<double>(counters.synchronous_bytes()) /
                              static_cast<double>(counters.bulk_sent_bytes()),
                          BytesText(counters.synchronous_bytes()));
  }
  AddFact("Sent", sent, text);
  const double busy = counters.compute_s() + counters.stall_s();
  if (busy > 0) {
    AddFact("Stalled",
            absl::StrFormat("%.1f%% of %.0f worker seconds",
                            100 * counters.stall_s() / busy, busy),
            text);
  }
  AddFact("Speed", TokensText(counters.tokens_per_s()) + " tokens/s", text);
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
          TokensText(job.counters().tokens_per_s()),
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

std::string PhaseText(v1::JobPhase phase) {
  const std::string& name = v1::JobPhase_Name(phase);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "JOB_PHASE_"));
}

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
  columns.push_back({"INTENT"});
  columns.push_back({"DRAINS FOR"});
  Table table(std::move(columns));
  for (const v1::WorkerView& worker : workers.workers()) {
    std::vector<std::string> cells = WorkerCells(worker);
    cells.push_back(IntentText(worker.intent()));
    cells.push_back(worker.drain_reason());
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

std::string JobDescription(const v1::JobView& job) {
  std::string text;
  AddFact("Name", job.spec().name(), &text);
  AddFact("Id", absl::StrCat(job.id()), &text);
  std::string phase = PhaseText(job.phase());
  if (!job.reason().empty()) absl::StrAppend(&phase, ": ", job.reason());
  AddFact("Phase", phase, &text);
  for (const v1::Condition& condition : job.conditions()) {
    if (condition.text() == job.reason()) continue;
    AddFact(condition.needs_help() ? "Problem" : "Condition", condition.text(),
            &text);
  }
  const v1::JobSpec::Queue& queue = job.spec().queue();
  AddFact("Queue",
          absl::StrCat("priority ", queue.priority(),
                       queue.owner().empty() ? "" : ", owner ", queue.owner()),
          &text);
  AddFact("Age", AgeText(job.age_ms()), &text);
  AddFact("Parameters",
          job.parameters() == 0 ? "" : absl::StrCat(job.parameters()), &text);
  AddFact(
      "Samples",
      absl::StrCat(job.samples_committed(), " of ", job.samples_total(), " (",
                   PercentText(job.samples_committed(), job.samples_total()),
                   "), ", job.tokens_per_sample(), " tokens each"),
      &text);
  if (job.samples_partly() > 0) {
    AddFact("Partly covered",
            absl::StrCat(job.samples_partly(),
                         " samples are in some fragments and not in all"),
            &text);
  }
  AddFact("Sequence", absl::StrCat(job.sequence()), &text);
  AddFact("Open attempt",
          job.open_attempt() == 0
              ? "none"
              : absl::StrCat(job.open_attempt(), ", try ", job.open_tries()),
          &text);
  AddFact("Outer loop",
          absl::StrCat(MethodText(job.spec().outer().method()), ", tau ",
                       job.spec().training().tau(), ", codec ",
                       job.spec().exchange().codec()),
          &text);
  if (const uint32_t fragments = job.spec().exchange().fragments();
      fragments > 1) {
    AddFact("Fragments", absl::StrCat(fragments, ", exchanged in turn"), &text);
  }
  if (job.spec().exchange().has_error_max()) {
    AddFact("Codec error",
            absl::StrFormat("at most %g", job.spec().exchange().error_max()),
            &text);
  }
  AddFact("Data", job.spec().data().path(), &text);
  if (job.has_validation_samples() && job.validation_samples() == 0) {
    AddFact("Evaluation",
            "none: the data have no validation split of a whole sample", &text);
  }
  AddCounters(job, &text);
  if (job.has_model()) {
    absl::StrAppend(&text, "\nModel\n", ModelPlaceText(job));
  }
  if (job.replicas_size() > 0) {
    absl::StrAppend(&text, "\nReplicas\n", SeatsTable(job));
  }
  if (job.losses_size() > 0) {
    absl::StrAppend(&text, "\nLosses\n", LossesTable(job));
  }
  return text;
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
      "%-9s  seq %-5d  %6s  loss %s", PhaseText(job.phase()), job.sequence(),
      PercentText(job.samples_committed(), job.samples_total()),
      losses.training.empty() ? "-" : losses.training);
  if (!losses.validation.empty()) {
    absl::StrAppend(&line, "  validation ", losses.validation);
  }
  absl::StrAppend(&line, "  ", TokensText(job.counters().tokens_per_s()),
                  " tokens/s  replicas ", ReplicasText(job));
  if (!job.reason().empty()) absl::StrAppend(&line, "  ", job.reason());
  return Printable(line);
}

bool ProgressDiffers(const v1::JobView& before, const v1::JobView& now) {
  v1::JobView as_fast = now;
  as_fast.mutable_counters()->set_tokens_per_s(
      before.counters().tokens_per_s());
  return ProgressLine(before) != ProgressLine(as_fast);
}

std::string EventLine(const v1::Event& event) {
  return Printable(absl::StrFormat("%8s ago  %6d  %-19s  %s",
                                   AgeText(event.age_ms()), event.revision(),
                                   event.name(), event.message()));
}

}  // namespace skerry::cli
