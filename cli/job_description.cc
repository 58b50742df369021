#include "cli/job_description.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/job_words.h"
#include "cli/model_place.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

// "name:" padded, then the value; nothing when there is no value.
void AddFact(const std::string& name, const std::string& value,
             std::string* text) {
  if (value.empty()) return;
  absl::StrAppendFormat(text, "%-16s %s\n", name + ":", Printable(value));
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

bool HasLosses(const v1::JobView& job) {
  return std::any_of(
      job.losses().begin(), job.losses().end(), [](const v1::LossPoint& point) {
        return point.has_training_loss() || point.has_validation_loss();
      });
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
         point.has_training_loss() ? LossText(point.training_loss()) : "",
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
  if (counters.has_goodput()) {
    AddFact("Goodput", absl::StrFormat("%.1f%%", 100 * counters.goodput()),
            text);
  }
  AddFact("Speed", SpeedText(job), text);
  AddFact("Metrics", MetricsText(job), text);
}

void AddProgram(const v1::JobView& job, std::string* text) {
  if (!job.spec().model().has_program()) return;
  constexpr size_t kShownMax = 200;
  const v1::JobSpec::Program& program = job.spec().model().program();
  std::string parameters = program.parameters_json().substr(0, kShownMax);
  if (parameters.size() < program.parameters_json().size()) {
    absl::StrAppend(&parameters, "...");
  }
  AddFact("Program",
          absl::StrCat(program.name(), parameters.empty() ? "" : " with ",
                       parameters),
          text);
  AddFact(
      "Program's hash",
      job.program_sha256().empty() ? program.sha256() : job.program_sha256(),
      text);
}

std::string SamplesText(const v1::JobView& job) {
  std::string samples = absl::StrCat(
      job.samples_committed(), " of ", job.samples_total(), " (",
      PercentText(job.samples_committed(), job.samples_total()), ")");
  if (HasTokens(job)) {
    absl::StrAppend(&samples, ", ", job.tokens_per_sample(), " tokens each");
  }
  return samples;
}

void AddData(const v1::JobView& job, std::string* text) {
  AddFact("Data",
          HasTokens(job) ? job.spec().data().path() : job.spec().data().id(),
          text);
  if (job.has_validation_samples() && job.validation_samples() == 0) {
    AddFact("Evaluation",
            HasTokens(job)
                ? "none: the data have no validation split of a whole sample"
                : "none: the program evaluates nothing",
            text);
  }
}

// What is known of results that come late.
void AddDelay(const v1::JobView& job, std::string* text) {
  if (job.own_share() > 0) {
    AddFact("Own share",
            absl::StrFormat("%.2f of a replica's own round was in the newest "
                            "mean",
                            job.own_share()),
            text);
  }
  if (job.late_steps() > 0) {
    AddFact("Lateness",
            absl::StrFormat("a result was in use %.1f inner steps after its "
                            "round",
                            job.late_steps()),
            text);
  }
}

}  // namespace

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
  AddProgram(job, &text);
  AddFact("Samples", SamplesText(job), &text);
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
  AddDelay(job, &text);
  if (const uint32_t fragments = job.spec().exchange().fragments();
      fragments > 1) {
    AddFact("Fragments", absl::StrCat(fragments, ", exchanged in turn"), &text);
  }
  if (job.spec().exchange().has_error_max()) {
    AddFact("Codec error",
            absl::StrFormat("at most %g", job.spec().exchange().error_max()),
            &text);
  }
  AddData(job, &text);
  AddCounters(job, &text);
  if (job.has_model()) {
    absl::StrAppend(&text, "\nModel\n", ModelPlaceText(job));
  }
  if (job.replicas_size() > 0) {
    absl::StrAppend(&text, "\nReplicas\n", SeatsTable(job));
  }
  if (HasLosses(job)) {
    absl::StrAppend(&text, "\nLosses\n", LossesTable(job));
  }
  return text;
}

}  // namespace skerry::cli
