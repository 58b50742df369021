// Replicas of workers' seats and a coordinator by the book, on a network that
// reorders (worker/core/testing/world.h). Besides what a scenario expects, the
// world compares anchors, conservation and the calls for a Status after every
// event; a step fails when any of these does.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compression/codec.h"
#include "tests/scenarios/scenario.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::scenarios {
namespace {

using protocol::JobFacts;
using protocol::SeatState;
using worker::World;

class SeatsStage final : public Stage {
 public:
  SeatsStage()
      : options_(worker::Options({}, "co2", compression::CodecId::kInt8Block)) {
  }

  absl::Status Do(const Step& step) override {
    if (world_ == nullptr) {
      const absl::Status set = Set(step);
      if (!absl::IsInvalidArgument(set) || options_.replicas.empty()) {
        return set;
      }
      world_ = std::make_unique<World>(options_);
    }
    const absl::Status done =
        step.words.front() == "expect" ? Check(step) : Act(step);
    if (!done.ok() || world_->failures().empty()) return done;
    return Expect(step, false, worker::Failures(*world_));
  }

 private:
  // Before anything happens.
  absl::Status Set(const Step& step) {
    if (const auto a = Match(step, "replicas ...")) {
      for (const std::string& name : a->names) {
        if (name != "whole" && name != "halves") return NoSuchStep(step);
        options_.replicas.push_back(name == "whole" ? worker::kAll
                                                    : worker::kHalves);
      }
    } else if (const auto a = Match(step, "method NAME")) {
      const auto outer = optimizer::OuterPreset(a->names[0]);
      if (!outer.ok()) return NoSuchStep(step);
      options_.settings.outer = *outer;
    } else if (const auto a = Match(step, "seed N")) {
      options_.seed = a->n[0];
    } else if (const auto a = Match(step, "N percent of messages are lost")) {
      options_.loss = static_cast<double>(a->n[0]) / 100;
    } else {
      return NoSuchStep(step);
    }
    return absl::OkStatus();
  }

  absl::Status Act(const Step& step) {
    if (const auto a = Match(step, "run until all have applied N")) {
      return Reach(step, world_->RunToSequence(a->n[0]));
    }
    if (const auto a = Match(step, "run for N more commits")) {
      const uint64_t until = world_->newest().value() + a->n[0];
      return Reach(step, world_->RunUntil([&] {
        return world_->newest().value() >= until;
      }));
    }
    if (const auto a =
            Match(step, "run until frames of sequence N arrive at worker N")) {
      return Reach(step, world_->RunUntil([&] {
        return world_->open() && world_->open()->sequence.value() == a->n[0] &&
               !FactsOf(a->n[1]).fragments[0].progress.empty();
      }));
    }
    if (const auto a = Match(step, "kill worker N")) {
      world_->Kill(static_cast<uint32_t>(a->n[0]));
    } else if (const auto a = Match(step, "start worker N with its disk")) {
      world_->Start(static_cast<uint32_t>(a->n[0]), true);
    } else if (const auto a = Match(step, "start worker N without a disk")) {
      world_->Start(static_cast<uint32_t>(a->n[0]), false);
    } else if (const auto a = Match(step, "the trainer of worker N dies")) {
      world_->FailTrainer(static_cast<uint32_t>(a->n[0]));
    } else if (const auto a = Match(step, "drain worker N")) {
      world_->seat(static_cast<uint32_t>(a->n[0]))->Drain(world_->now());
    } else if (Match(step, "another attempt replaces the open one")) {
      world_->Reopen({});
    } else if (const auto a = Match(step, "orders for worker N are delayed")) {
      late_for_ = static_cast<uint32_t>(a->n[0]);
      late_ = {world_->revision(), world_->OrdersFor(late_for_)};
    } else if (Match(step, "the delayed orders arrive")) {
      return DeliverLate(step);
    } else {
      return NoSuchStep(step);
    }
    return absl::OkStatus();
  }

  absl::Status Check(const Step& step) {
    if (const auto a =
            Match(step, "expect worker N active within N more commits")) {
      const uint64_t until = world_->newest().value() + a->n[1];
      world_->RunUntil([&] {
        return FactsOf(a->n[0]).state == SeatState::kActive ||
               world_->newest().value() > until;
      });
      return Expect(step, FactsOf(a->n[0]).state == SeatState::kActive,
                    EventsOf(a->n[0]));
    }
    if (const auto a =
            Match(step, "expect worker N to leave within N more commits")) {
      const uint64_t until = world_->newest().value() + a->n[1];
      world_->RunUntil([&] {
        return FactsOf(a->n[0]).abandoned_life != Life() ||
               world_->newest().value() > until;
      });
      return Expect(step, FactsOf(a->n[0]).abandoned_life != Life(),
                    EventsOf(a->n[0]));
    }
    return NoSuchStep(step);
  }

  absl::Status Reach(const Step& step, bool reached) {
    std::string found = worker::Failures(*world_);
    if (found.empty()) {
      found = absl::StrCat("it stays at ", world_->newest().value());
      for (uint32_t i = 0; i < world_->worker_count(); ++i) {
        absl::StrAppend(&found, "\n", EventsOf(i));
      }
    }
    return Expect(step, reached, found);
  }

  absl::Status DeliverLate(const Step& step) {
    if (!late_.has_value()) return NoSuchStep(step);
    const JobFacts before = FactsOf(late_for_);
    world_->seat(late_for_)->OnOrders(world_->now(), late_->first,
                                      late_->second, options_.settings);
    return Expect(step, FactsOf(late_for_) == before, "they were followed");
  }

  JobFacts FactsOf(uint64_t worker) {
    const worker::Seat* seat = world_->seat(static_cast<uint32_t>(worker));
    return seat == nullptr ? JobFacts() : seat->Facts();
  }
  std::string EventsOf(uint64_t worker) {
    return absl::StrCat(
        "worker ", worker, ": ",
        absl::StrJoin(world_->LastEvents(static_cast<uint32_t>(worker)), "; "));
  }

  worker::WorldOptions options_;
  std::unique_ptr<World> world_;
  uint32_t late_for_ = 0;
  std::optional<std::pair<Revision, protocol::JobOrders>> late_;
};

}  // namespace

std::unique_ptr<Stage> MakeSeatsStage() {
  return std::make_unique<SeatsStage>();
}

}  // namespace skerry::scenarios
