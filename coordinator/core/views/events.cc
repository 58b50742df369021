#include "coordinator/core/views/events.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

constexpr char kExchangeOpened[] = "ExchangeOpened";
constexpr char kCommitted[] = "Committed";

std::optional<EventView> Make(Revision revision, JobId job, const char* name,
                              std::string message) {
  return EventView{revision, job, name, std::move(message)};
}

std::optional<EventView> OfWorker(Revision revision, const std::string& worker,
                                  const char* name, const std::string& what) {
  return EventView{revision, JobId(), name,
                   absl::StrCat("worker ", worker, what), worker};
}

std::optional<EventView> Of(Revision index, const JobSubmitted& r) {
  return Make(index, JobId(index.value()), "JobSubmitted",
              absl::StrCat("job ", r.spec.name, " is accepted: ",
                           r.spec.training.samples, " samples"));
}

std::optional<EventView> Of(Revision index, const JobEnded& r) {
  const char* how = r.phase == JobPhase::kSucceeded   ? "succeeded"
                    : r.phase == JobPhase::kCancelled ? "cancelled"
                                                      : "failed";
  return Make(index, r.job, "JobEnded", absl::StrCat(how, ": ", r.reason));
}

std::optional<EventView> Of(Revision index, const WorkerAdmitted& r) {
  return OfWorker(
      index, r.self.worker, "WorkerAdmitted",
      absl::StrCat(" of island ", r.island, " is incarnation ", index.value()));
}

std::optional<EventView> Of(Revision index, const WorkerLeft& r) {
  return OfWorker(index, r.worker, "WorkerLeft", absl::StrCat(": ", r.reason));
}

std::optional<EventView> Of(Revision index, const WorkerMarked& r) {
  const char* how = r.intent == WorkerIntent::kCordon  ? " is cordoned"
                    : r.intent == WorkerIntent::kDrain ? " is drained"
                                                       : " may serve again";
  return OfWorker(index, r.worker, "WorkerMarked",
                  absl::StrCat(how, " by the operator"));
}

std::optional<EventView> Of(Revision index, const JobDeleted& r) {
  return Make(index, r.job, "JobDeleted", "deleted by the operator");
}

std::optional<EventView> Of(Revision index, const JobPaused& r) {
  return r.paused ? Make(index, r.job, "JobPaused", "paused by the operator")
                  : Make(index, r.job, "JobResumed", "resumed by the operator");
}

std::optional<EventView> Of(Revision index, const ReplicaAdmitted& r) {
  return Make(index, r.job, "ReplicaAdmitted",
              absl::StrCat("replica ", r.replica.value(), " of island ",
                           r.island, " begins life ", index.value(), " with ",
                           r.holders.size(), " worker(s)"));
}

std::optional<EventView> Of(Revision index, const ReplicaEnded& r) {
  return Make(index, r.job, "ReplicaEnded",
              absl::StrCat("life ", r.life.value(), " ends: ", r.reason));
}

std::optional<EventView> Of(Revision, const Planned&) { return std::nullopt; }
std::optional<EventView> Of(Revision, const Granted&) { return std::nullopt; }

std::optional<EventView> Of(Revision index, const JobSized& r) {
  if (r.validation_samples != uint64_t{0}) return std::nullopt;
  return Make(index, r.job, "NotEvaluated",
              r.program_sha256.empty()
                  ? "the data have no validation split of a whole sample: the "
                    "job trains without evaluations"
                  : "the program evaluates nothing: the job trains without "
                    "evaluations");
}

std::optional<EventView> Of(Revision index, const Opened& r) {
  if (r.members.empty()) {
    return Make(index, r.job, "ExchangeClosed",
                absl::StrCat("exchange ", r.sequence.value(),
                             " is closed: ", r.reason));
  }
  return Make(
      index, r.job, kExchangeOpened,
      absl::StrCat("exchange ", r.sequence.value(), " opens as attempt ",
                   index.value(), ": ", r.reason));
}

std::optional<EventView> Of(Revision index, const Dropped& r) {
  return Make(index, r.job, "ContributionDropped",
              absl::StrCat("round ", r.round.value(), " of life ",
                           r.life.value(), " is dropped: ", r.reason));
}

std::optional<EventView> Of(Revision index, const Committed& r) {
  return Make(index, r.job, kCommitted,
              absl::StrCat("exchange ", r.sequence.value(),
                           " is committed: ", r.total_weight, " samples",
                           r.scalars.no_loss ? ""
                                             : absl::StrCat(", training loss ",
                                                            r.scalars.loss)));
}

std::optional<EventView> Of(Revision index, const Evaluated& r) {
  return Make(index, r.job, "Evaluated",
              absl::StrCat("validation loss at ", r.sequence.value(), " is ",
                           r.loss, " on ", r.samples, " samples"));
}

std::optional<EventView> Of(Revision index, const Checkpointed& r) {
  if (!r.error.empty()) {
    return Make(
        index, r.job, "CheckpointFailed",
        absl::StrCat("checkpoint-", r.sequence.value(),
                     " is not saved: worker ", r.worker, ": ", r.error));
  }
  return Make(
      index, r.job, "CheckpointSaved",
      absl::StrCat("checkpoint-", r.sequence.value(), " is saved by worker ",
                   r.worker, ": ", r.bytes, " bytes"));
}

std::optional<EventView> Of(Revision index, const Restored& r) {
  return Make(
      index, r.job, "JobRestored",
      absl::StrCat(
          "the job goes back to ",
          r.checkpoint.is_set()
              ? absl::StrCat("checkpoint-", r.checkpoint.value(), ", which")
              : "where it began, which",
          " is now sequence ", r.sequence.value(), ": ", r.reason));
}

std::optional<EventView> Of(Revision index, const NumbersRaised& r) {
  return OfWorker(
      index, r.worker, "NumbersRaised",
      absl::StrCat(" was told number ", r.seen.value(),
                   ", which this journal has not come to: an older journal "
                   "was put in place. Numbers go on at ",
                   index.value()));
}

std::optional<EventView> Of(Revision index, const Diverged& r) {
  return Make(index, r.job, "JobDiverged",
              absl::StrCat(r.reason,
                           "; the job stands until an operator "
                           "decides: skerryctl restore"));
}

std::optional<EventView> Of(Revision index, const Adopted& r) {
  return Make(
      index, r.job, "JobAdopted",
      absl::StrCat("the job goes on with what workers hold: ", r.reason));
}

std::optional<EventView> Of(Revision index, const SeatNoted& r) {
  auto event =
      r.reason.empty()
          ? Make(index, r.job, "WorkerServesAgain",
                 absl::StrCat("worker ", r.worker, " can serve the job again"))
          : Make(index, r.job, "WorkerCannotServe",
                 absl::StrCat("worker ", r.worker,
                              " cannot serve the job: ", r.reason));
  return event;
}

std::optional<EventView> Of(Revision, const Counted&) { return std::nullopt; }

std::optional<EventView> Of(Revision index, const TokenMade& r) {
  return Make(index, JobId(), "TokenMade",
              absl::StrCat("token ", r.id, " lets ", r.uses_max, " worker(s) ",
                           r.worker_pattern, " of island ", r.island, " in"));
}

std::optional<EventView> Of(Revision index, const TokenDeleted& r) {
  return Make(index, JobId(), "TokenDeleted",
              absl::StrCat("token ", r.id, " is deleted by the operator"));
}

std::optional<EventView> Of(Revision index, const WorkerJoined& r) {
  return OfWorker(index, r.worker, "WorkerJoined",
                  absl::StrCat(" of island ", r.island, " has joined from ",
                               r.address, " with token ", r.token));
}

std::optional<EventView> Of(Revision index, const WorkerForgotten& r) {
  return OfWorker(index, r.worker, "WorkerForgotten",
                  " is forgotten by the operator: its name is free");
}

std::optional<EventView> Of(Revision index, const CertificateRevoked& r) {
  return Make(index, JobId(), "CertificateRevoked",
              absl::StrCat(r.what, " is revoked by the operator",
                           r.reason.empty() ? "" : ": ", r.reason));
}

std::optional<EventView> Of(Revision index, const RevocationLifted& r) {
  return Make(index, JobId(), "RevocationLifted",
              absl::StrCat(r.what, " is believed again"));
}

std::optional<EventView> Of(Revision index, const JoinChanged& r) {
  return std::visit([index](const auto& what) { return Of(index, what); },
                    r.what);
}

}  // namespace

bool IsRoutine(const EventView& event) {
  return event.name == kExchangeOpened || event.name == kCommitted;
}

std::optional<EventView> EventOf(const Entry& entry) {
  return std::visit([&](const auto& record) { return Of(entry.index, record); },
                    entry.record);
}

}  // namespace skerry::coordinator
