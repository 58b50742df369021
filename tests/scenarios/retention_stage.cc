// What the coordinator lets workers delete, by what each has said.
#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/retention.h"
#include "coordinator/core/testing/job_bench.h"
#include "tests/scenarios/scenario.h"

namespace skerry::scenarios {
namespace {

class RetentionStage final : public Stage {
 public:
  absl::Status Do(const Step& step) override {
    if (const auto a = Match(step, "replica NAME of NAME ...")) {
      bench_.AddReplica(a->names[0], {a->names.begin() + 1, a->names.end()});
    } else if (const auto a = Match(step, "NAME joins island NAME")) {
      // It has not reported yet, also when it was there before.
      bench_.AddWorker(a->names[0], a->names[1]);
    } else if (const auto a = Match(step, "NAME holds base N")) {
      protocol::FragmentFacts& facts = bench_.Fragment(a->names[0]);
      facts.bases.push_back(
          {Sequence(a->n[0]), facts.span_begin, facts.anchor_hashes});
    } else if (const auto a = Match(step, "NAME starts its trainer")) {
      bench_.Facts(a->names[0]).state = protocol::SeatState::kStarting;
    } else if (const auto a = Match(step, "NAME recovers without a pin")) {
      bench_.Facts(a->names[0]).state = protocol::SeatState::kRecovering;
    } else if (const auto a = Match(step, "NAME recovers from pin N")) {
      bench_.Facts(a->names[0]).state = protocol::SeatState::kRecovering;
      bench_.Fragment(a->names[0]).pin = Sequence(a->n[0]);
    } else if (Match(step, "workers are told")) {
      bench_.job.keep_from[0] = Keep();
    } else if (const auto a = Match(step, "expect keep from N")) {
      return Expect(step, Keep().value() == a->n[0],
                    absl::StrCat("keep from ", Keep().value()));
    } else {
      return NoSuchStep(step);
    }
    return absl::OkStatus();
  }

 private:
  Sequence Keep() {
    return coordinator::KeepFrom(bench_.job, bench_.workers, bench_.options,
                                 FragmentId(0));
  }

  coordinator::JobBench bench_;
};

}  // namespace

std::unique_ptr<Stage> MakeRetentionStage() {
  return std::make_unique<RetentionStage>();
}

}  // namespace skerry::scenarios
