#include "worker/core/trainer_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace skerry::worker {
namespace {

// A look that comes so many intervals after the last one comes from a worker
// that could not run, and nothing follows from what it did not hear meanwhile.
constexpr int kSleptIntervals = 4;
// A trainer is in trouble after this share of the time that it has.
constexpr double kTroubleShare = 1.0 / 3;

const char* NameOf(TrainerPhase phase) {
  switch (phase) {
    case TrainerPhase::kIdle:
      return "between two calls";
    case TrainerPhase::kBuilding:
      return "while it builds the model";
    case TrainerPhase::kTraining:
      return "while it trains";
    case TrainerPhase::kCopying:
      return "while it copies the model";
    case TrainerPhase::kJoining:
      return "while it joins its island";
    case TrainerPhase::kEvaluating:
      return "while it evaluates";
    case TrainerPhase::kGenerating:
      return "while it generates text";
  }
  return "";
}

}  // namespace

TrainerWatch::TrainerWatch(const TrainerWatchOptions& options, Instant started,
                           absl::Duration longest_step)
    : options_(options),
      longest_step_(longest_step),
      heard_(started),
      moved_(started),
      looked_(started) {}

void TrainerWatch::OnProgress(Instant now, const TrainerProgress& progress) {
  OnAnswer(now);
  if (progress != progress_ || progress.phase == TrainerPhase::kIdle) {
    moved_ = now;
  }
  progress_ = progress;
  if (progress.steps > 0) longest_step_ = progress.longest_step;
}

void TrainerWatch::OnAnswer(Instant now) {
  answered_ = true;
  heard_ = now;
}

void TrainerWatch::OnUnknown(Instant now) {
  OnProgress(now, {.phase = TrainerPhase::kIdle});
}

absl::Duration TrainerWatch::OfSteps() const {
  return std::max(options_.least, options_.longest_steps * longest_step_);
}

absl::Duration TrainerWatch::GroupTimeout() const {
  return longest_step_ > absl::ZeroDuration() ? 4 * OfSteps()
                                              : 2 * options_.unknown;
}

absl::Duration TrainerWatch::AllowedForPiece() const {
  if (progress_.phase == TrainerPhase::kIdle) return absl::InfiniteDuration();
  // The trainer gives up by itself before.
  if (progress_.waits_for_group) return 2 * GroupTimeout();
  if (progress_.phase == TrainerPhase::kCopying ||
      progress_.phase == TrainerPhase::kJoining) {
    return std::max(options_.copy, OfSteps());
  }
  if (progress_.phase == TrainerPhase::kBuilding || progress_.steps == 0) {
    return options_.unknown;
  }
  return OfSteps();
}

TrainerWatch::Lateness TrainerWatch::Judge(Instant now) const {
  const Lateness silence{now - heard_, answered_ ? OfSteps() : options_.unknown,
                         true};
  const Lateness standstill{now - moved_, AllowedForPiece()};
  if (answered_ && absl::FDivDuration(standstill.late, standstill.allowed) >
                       absl::FDivDuration(silence.late, silence.allowed)) {
    return standstill;
  }
  return silence;
}

std::string TrainerWatch::TextOf(const Lateness& lateness) const {
  const double late = absl::ToDoubleSeconds(lateness.late);
  std::string text =
      lateness.silent
          ? absl::StrFormat("the trainer has not answered for %.1f s", late)
          : absl::StrFormat(
                "the trainer answers, but its work has stood still "
                "for %.1f s",
                late);
  absl::StrAppend(&text, " ", NameOf(progress_.phase));
  if (longest_step_ > absl::ZeroDuration()) {
    absl::StrAppendFormat(&text, " (the longest step before took %.2f s)",
                          absl::ToDoubleSeconds(longest_step_));
  }
  return text;
}

std::string TrainerWatch::Look(Instant now) {
  if (now - looked_ > kSleptIntervals * options_.interval) {
    heard_ = now;
    moved_ = now;
  }
  looked_ = now;
  const Lateness lateness = Judge(now);
  return lateness.late < lateness.allowed ? "" : TextOf(lateness);
}

std::string TrainerWatch::Trouble(Instant now) const {
  const Lateness lateness = Judge(now);
  if (lateness.late < kTroubleShare * lateness.allowed) return "";
  return absl::StrFormat("%s; it is ended after %.0f s", TextOf(lateness),
                         absl::ToDoubleSeconds(lateness.allowed));
}

}  // namespace skerry::worker
