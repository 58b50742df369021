#include "cli/plan_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

void AddFact(const std::string& name, const std::string& value,
             std::string* text) {
  absl::StrAppendFormat(text, "%-16s %s\n", name + ":", Printable(value));
}

void AddExchange(const v1::PlannedExchange& exchange, uint32_t fragments,
                 std::string* text) {
  AddFact("Exchange",
          absl::StrCat(exchange.members(), " replica(s): ", exchange.reason()),
          text);
  AddFact("Codec",
          absl::StrCat(exchange.codec(), ", ",
                       BytesText(exchange.model_bytes()), " a model"),
          text);
  std::string sends =
      absl::StrCat(BytesText(exchange.sent_bytes_each()), " a round");
  if (exchange.seconds() > 0) {
    absl::StrAppendFormat(&sends, ", in %.2f s over the links as measured",
                          exchange.seconds());
  } else if (exchange.members() > 1) {
    absl::StrAppend(&sends,
                    "; how long is not known before a job has measured "
                    "the links");
  }
  AddFact("Each sends", sends, text);
  if (fragments > 1) {
    AddFact("Fragments",
            absl::StrCat(fragments, " in turn, ",
                         BytesText(exchange.sent_bytes_each() / fragments),
                         " at a time"),
            text);
  }
  AddFact("Rounds",
          absl::StrCat(exchange.rounds(), " of ", exchange.samples_per_round(),
                       " samples"),
          text);
}

// What a program trains is known only by running it.
void AddProgram(const v1::PlanJobReply& plan,
                const std::optional<ProgramDescription>& description,
                std::string* text) {
  AddFact("Program", plan.spec().model().program().name(), text);
  if (std::any_of(plan.replicas().begin(), plan.replicas().end(),
                  [](const v1::PlannedReplica& replica) {
                    return replica.seats_size() > 1;
                  })) {
    AddFact("Not known",
            "whether the program computes with other workers of its island; "
            "if not, one worker of each island trains",
            text);
  }
  if (!description.has_value()) {
    AddFact("Not known",
            "how many parameters it trains, and so the spans, the memory and "
            "the bytes of an exchange; measure it with `python -m skerry "
            "describe`, and give what that prints with --description FILE",
            text);
    return;
  }
  AddFact("Step",
          absl::StrFormat("%.3g s for %d samples, as measured where it was "
                          "described",
                          description->step_s, description->samples_per_step),
          text);
  AddFact("Trainer memory",
          absl::StrCat(BytesText(description->peak_memory_bytes),
                       " at the most, as measured there"),
          text);
}

std::string PlacesTable(const v1::PlanJobReply& plan) {
  Table table({{"ISLAND"},
               {"WORKER"},
               {"SPANS"},
               {"ELEMENTS", Align::kRight},
               {"HOST MEMORY", Align::kRight}});
  for (const v1::PlannedReplica& replica : plan.replicas()) {
    for (const v1::PlannedSeat& seat : replica.seats()) {
      const bool cut = seat.span_end() > 0;
      table.AddRow(
          {replica.island(), seat.worker(),
           cut ? absl::StrCat(seat.span_begin(), "-", seat.span_end()) : "",
           cut ? absl::StrCat(seat.elements()) : "",
           cut ? BytesText(seat.host_bytes()) : ""});
    }
  }
  return table.Text();
}

std::string LeftOutTable(const v1::PlanJobReply& plan) {
  Table table({{"WORKER"}, {"ISLAND"}, {"REASON"}});
  for (const v1::LeftOutWorker& left : plan.left_out()) {
    table.AddRow({left.worker(), left.island(), left.reason()});
  }
  return table.Text();
}

}  // namespace

std::string PlanDescription(
    const v1::PlanJobReply& plan, uint64_t parameters,
    const std::optional<ProgramDescription>& description) {
  std::string text;
  AddFact("Name", plan.spec().name(), &text);
  AddFact(plan.starts() ? "Starts" : "Waits", plan.reason(), &text);
  if (plan.spec().model().has_program()) {
    AddProgram(plan, description, &text);
  }
  if (parameters > 0) AddFact("Parameters", absl::StrCat(parameters), &text);
  if (plan.has_exchange()) {
    AddExchange(plan.exchange(), plan.spec().exchange().fragments(), &text);
  }
  if (plan.replicas_size() > 0) {
    absl::StrAppend(&text, "\nPlaces\n", PlacesTable(plan));
  }
  if (plan.left_out_size() > 0) {
    absl::StrAppend(&text, "\nLeft out\n", LeftOutTable(plan));
  }
  return text;
}

}  // namespace skerry::cli
