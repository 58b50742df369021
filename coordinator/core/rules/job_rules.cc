#include "coordinator/core/rules/job_rules.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/rules/anchor_check.h"
#include "coordinator/core/rules/beginning.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/divergence.h"
#include "coordinator/core/rules/evaluations.h"
#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/grants.h"
#include "coordinator/core/rules/job_workers.h"
#include "coordinator/core/rules/lost_history.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/programs.h"
#include "coordinator/core/rules/restore.h"
#include "coordinator/core/rules/retention.h"
#include "coordinator/core/rules/seat_totals.h"
#include "coordinator/core/state/layout.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

// Decisions follow from each other in short chains; a longer one is a rule
// that undoes another, and must not hang the loop.
constexpr int kPassesMax = 64;

// It cannot work now, and tries again by itself: its disk is full.
bool IsHindered(const JobFacts& facts) {
  return facts.state == SeatState::kStarting && !facts.error.empty();
}

// Compares the trainer with the first one of the job. Replicas that begin with
// other values, or keep their tensors in another order, would average values
// that have nothing to do with each other. Empty when nothing differs.
std::string OtherModel(const JobState& job, const JobFacts& facts) {
  const auto differs = [](uint64_t ours, uint64_t theirs) {
    return ours != 0 && theirs != 0 && ours != theirs;
  };
  const bool has_program = job.spec.model.program.has_value();
  if (differs(job.layout_hash, facts.layout_hash)) {
    return absl::StrFormat(
        "its %s keeps the model's tensors in another order or shape than "
        "the job's first (layout %016x, not %016x); %s on all workers",
        has_program ? "program" : "trainer", facts.layout_hash, job.layout_hash,
        has_program ? "give it the same inputs and libraries"
                    : "install the same trainer");
  }
  // Where the layout's hash is not known, as from programs of older workers.
  if (facts.average_begin != job.average_begin) {
    return absl::StrCat(
        "its program has averaged values from element ", facts.average_begin,
        " on, where the job's first has them from ", job.average_begin,
        " on (0: none); give it the same inputs and libraries, and a worker of "
        "the same release, on all workers");
  }
  // A job that starts from a checkpoint begins with that, and one with a
  // program with the values of one of its trainers.
  if (!job.spec.model.checkpoint.has_value() && !has_program &&
      differs(job.initial_hash, facts.initial_hash)) {
    return absl::StrFormat(
        "its trainer begins with other values than the job's first (hash "
        "%016x, not %016x); install the same trainer on all workers, or start "
        "the job from a checkpoint",
        facts.initial_hash, job.initial_hash);
  }
  return "";
}

std::string WhyUnfit(const JobState& job, const JobFacts& facts) {
  if (facts.state == SeatState::kFailed) {
    return facts.error.empty() ? "it reports a failure without a reason"
                               : facts.error;
  }
  if (IsHindered(facts)) return facts.error;
  if (facts.element_count == 0) return "";
  if (SpanCount(facts.element_count, job.spec.exchange.spans) == 0) {
    return absl::StrCat("its trainer built ", facts.element_count,
                        " elements, which is out of range");
  }
  if (SpanCount(facts.element_count, job.spec.exchange.spans, 1,
                facts.average_begin) == 0) {
    return absl::StrCat("its trainer has averaged values from element ",
                        facts.average_begin, " of ", facts.element_count,
                        " on, where no span can begin");
  }
  if (SpanCount(facts.element_count, job.spec.exchange.spans,
                FragmentCount(job.spec), facts.average_begin) == 0) {
    return absl::StrCat("its trainer built ", facts.element_count,
                        " elements, too few for exchange.fragments ",
                        FragmentCount(job.spec));
  }
  if (job.Sized() && facts.element_count != job.element_count) {
    return absl::StrCat("its trainer built ", facts.element_count,
                        " elements where the job has ", job.element_count);
  }
  if (MayBeginDifferently(job.spec) && facts.initial_hash == 0) {
    return "its trainer does not say with which values it begins";
  }
  return job.Sized() ? OtherModel(job, facts) : "";
}

// All but what is only shown to operators. The names are those of every member,
// so that a new one does not compile unseen.
auto Decisive(const FragmentFacts& facts) {
  const auto& [fragment, span_begin, applied, anchor_hashes, stored_through,
               stored, ready, progress, bases, first_result_kept, pin,
               owed_norm, lost_norm, applied_attempt, last_result,
               last_result_attempt] = facts;
  return std::tie(fragment, span_begin, applied, anchor_hashes, stored_through,
                  stored, ready, progress, bases, first_result_kept, pin,
                  applied_attempt, last_result, last_result_attempt);
}

auto Decisive(const JobFacts& facts) {
  const auto& [job, life, abandoned_life, state, error, element_count,
               epoch_samples, flops_per_sample, validation_samples,
               initial_hash, layout_hash, average_begin, trainer_trouble,
               fragments, evaluations, generated, counters, links, codec_speeds,
               result_codecs, checkpoint, uid, checkpoint_trouble, metrics,
               trains_alone, has_data, begun_with] = facts;
  return std::tie(job, life, abandoned_life, state, error, element_count,
                  epoch_samples, flops_per_sample, validation_samples,
                  initial_hash, layout_hash, average_begin, evaluations,
                  generated, codec_speeds, result_codecs, checkpoint, uid,
                  checkpoint_trouble, trains_alone, has_data, begun_with);
}

bool SameForDecisions(const JobFacts& a, const JobFacts& b) {
  return Decisive(a) == Decisive(b) &&
         std::equal(a.fragments.begin(), a.fragments.end(), b.fragments.begin(),
                    b.fragments.end(),
                    [](const FragmentFacts& x, const FragmentFacts& y) {
                      return Decisive(x) == Decisive(y);
                    });
}

void DecideSize(JobState& job, const Decider& decider) {
  if (job.Sized()) return;
  for (const auto& [name, seat] : job.seats) {
    const JobFacts& facts = seat.facts;
    if (facts.element_count == 0 || !seat.unfit.empty()) continue;
    const Worker* worker = decider.workers.FindCurrent(name);
    const protocol::ProgramFact* program =
        worker == nullptr ? nullptr : ProgramOn(job.spec, *worker);
    if (program == nullptr && job.spec.model.program.has_value()) continue;
    decider.emit(JobSized{job.id, facts.element_count, facts.epoch_samples,
                          facts.flops_per_sample, facts.validation_samples,
                          facts.initial_hash, facts.layout_hash,
                          program == nullptr ? "" : program->sha256,
                          facts.average_begin});
    job.beginners.emplace();
    job.places_stale = true;
    for (auto& [other, other_seat] : job.seats) {
      other_seat.unfit = WhyUnfit(job, other_seat.facts);
      RemoveOfOtherValues(job, other_seat.facts);
    }
    return;
  }
}

// Every worker that the job may use has failed at it, for good. Those without
// its program could never serve it.
void DecideFailure(JobState& job, const Decider& decider) {
  if (!job.replicas.current().empty() || job.seats.empty()) return;
  const auto& islands = job.spec.placement.islands;
  size_t there = 0;
  const Seat* first = nullptr;
  std::string who;
  for (const auto& [name, worker] : decider.workers.all()) {
    const bool allowed =
        islands.empty() || std::find(islands.begin(), islands.end(),
                                     worker.island) != islands.end();
    if (worker.left || !allowed ||
        !WhyNoProgram(job.spec, job.program_sha256, worker).empty()) {
      continue;
    }
    ++there;
    const Seat* seat = job.SeatOf(name, worker.incarnation);
    if (seat == nullptr || seat->unfit.empty() || IsHindered(seat->facts)) {
      return;
    }
    if (first == nullptr) {
      first = seat;
      who = name;
    }
  }
  if (first == nullptr || there < job.spec.placement.workers_min) return;
  decider.emit(JobEnded{
      job.id, JobPhase::kFailed,
      absl::StrCat("every worker has failed; ", who, ": ", first->unfit)});
}

// Writes down who begins or ceases to be unfit, so that operators hear of it.
void NoteUnfit(JobState& job, const Decider& decider) {
  for (auto& [name, seat] : job.seats) {
    if (seat.noted == seat.unfit) continue;
    seat.noted = seat.unfit;
    decider.emit(SeatNoted{job.id, name, seat.unfit});
  }
}

void DecideProgress(JobState& job, const Decider& decider) {
  // Workers get their places, so that they show what they have.
  if (job.diverged.has_value()) return DecideMembership(job, decider);
  CheckAnchors(job, decider);
  DecideMembership(job, decider);
  DecideGrants(job, decider);
  DecideExchange(job, decider);
  DecideCheckpoints(job, decider);
  DecideEvaluations(job, decider);
  DecideRestore(job, decider);
  DecideBeginning(job, decider);
}

void RefreshKeepFrom(JobState& job, const Decider& decider) {
  for (size_t i = 0; i < job.fragments.size(); ++i) {
    job.keep_from[i] = KeepFrom(job, decider.workers, decider.options,
                                job.fragments[i].fragment());
  }
}

// What only the rules of a job that goes on look at. An ended job is remembered
// for long, and there may be many.
void ForgetRounds(JobState& job) {
  job.places.clear();
  job.settling.clear();
  std::vector<RoundTimers>().swap(job.timers);
  job.codec_controllers.clear();
  job.draining.clear();
  job.anchors = {};
  job.wanted.clear();
  job.saving.reset();
  job.lost_spans.reset();
  job.evaluator.clear();
}

}  // namespace

bool HearSeat(JobState& job, const std::string& worker, Incarnation incarnation,
              const JobFacts* facts, const ClusterOptions& options) {
  const auto it = job.seats.find(worker);
  if (facts == nullptr && it == job.seats.end()) return false;
  const bool known =
      it != job.seats.end() && it->second.incarnation == incarnation;
  JobFacts now;
  if (facts != nullptr) now = *facts;
  now.job = job.id;
  RemoveLost(job, now);
  RemoveOfOtherValues(job, now);
  if (known && SameForDecisions(it->second.facts, now)) {
    it->second.facts = std::move(now);
    return false;
  }
  if (it == job.seats.end() && !IsNamedUnheard(job, worker)) {
    TellWorkers(job, options);
  }
  // Those that lack the data set hear who gives it.
  const bool had_data = known && it->second.facts.has_data;
  if (now.has_data != had_data) TellWorkers(job, options);
  Seat& seat = job.seats[worker];
  if (!known) {
    seat = Seat{};
    seat.incarnation = incarnation;
  }
  if (now.state != seat.facts.state ||
      now.trains_alone != seat.facts.trains_alone) {
    job.places_stale = true;
  }
  seat.facts = std::move(now);
  seat.joined = std::max(seat.joined, seat.facts.life);
  std::string unfit = WhyUnfit(job, seat.facts);
  if (unfit != seat.unfit) job.places_stale = true;
  seat.unfit = std::move(unfit);
  NoteAnchors(job, worker);
  return true;
}

void JobRecovered(JobState& job, const ClusterOptions& options, Instant now) {
  job.since = now;
  job.samples_at_start = job.ledger.consumed().total();
  // Whoever saves a state already says so first.
  job.save_not_before = now + options.lease;
  for (size_t i = 0; i < job.fragments.size(); ++i) {
    if (!job.fragments[i].open().has_value()) continue;
    job.timers[i].OnOpened(job.fragments[i].tries(), absl::ZeroDuration(), now);
  }
}

void TakeFacts(JobState& job, const Decider& decider, const std::string& worker,
               const JobFacts& facts) {
  CountSeat(job, decider, worker, facts.counters);
  if (!facts.checkpoint.has_value() && facts.evaluations.empty()) return;
  // What was saved and evaluated in a history that the journal does not have is
  // of other states than those of the same numbers here.
  DecideDivergence(job, decider);
  if (job.diverged.has_value()) return;
  TakeCheckpoint(job, decider, worker, facts);
  TakeEvaluations(job, decider, facts);
}

void DecideJob(JobState& job, const Decider& decider) {
  job.decided_at = decider.now;
  job.undecided = false;
  for (int pass = 0; pass < kPassesMax && !job.Ended(); ++pass) {
    size_t emitted = 0;
    const auto counting = [&](Record record) {
      ++emitted;
      decider.emit(std::move(record));
    };
    const Decider counted{decider.now, decider.options, decider.workers,
                          decider.turn, counting};
    NoteUnfit(job, counted);
    DecideSize(job, counted);
    DecideDivergence(job, counted);
    DecideProgress(job, counted);
    if (!job.Ended()) DecideFailure(job, counted);
    if (emitted == 0) break;
  }
  if (job.Ended()) {
    ForgetRounds(job);
    CountAll(job, decider);
  }
  RefreshKeepFrom(job, decider);
}

void CollectJob(const JobState& job, const ClusterOptions& options,
                Earliest& earliest) {
  if (job.Ended()) return;
  CollectMembership(job, options, earliest);
  CollectExchange(job, earliest);
  CollectCheckpoints(job, options, earliest);
  CollectEvaluations(job, options, earliest);
  CollectRestore(job, options, earliest);
}

}  // namespace skerry::coordinator
