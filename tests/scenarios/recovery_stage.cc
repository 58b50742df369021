// One worker that recovers two spans, over a true history of six results, from
// a disk and from peers whose answers the scenario decides.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/scenario.h"
#include "worker/core/testing/recovery_fixture.h"

namespace skerry::scenarios {
namespace {

using protocol::Source;

class RecoveryStage final : public worker::RecoveryFixture, public Stage {
 public:
  absl::Status Do(const Step& step) override {
    if (step.words.front() == "expect") return Check(step);
    if (const auto a = Match(step, "NAME serves base N and results from N")) {
      Offer(Serve(a->names[0], a->n[0], a->n[1]));
    } else if (const auto a =
                   Match(step, "NAME has base N and serves results from N")) {
      Source source = Serve(a->names[0], a->n[0], a->n[1]);
      source.base_hashes.clear();  // as in orders for a worker in a life
      Offer(std::move(source));
    } else if (Match(step, "every peer drops all that it served")) {
      ports_.remote.clear();
      offers_.clear();
    } else if (const auto a = Match(step, "keep from N")) {
      keep_from_ = Sequence(a->n[0]);
      Look();
    } else if (const auto a = Match(step, "the disk holds base N of span N")) {
      const auto span = static_cast<uint32_t>(a->n[1]);
      PutOnDisk(BaseKey(a->n[0], span),
                SharedBytes(states_[span][a->n[0]].values));
    } else if (Match(step, "the disk is lost")) {
      ports_.files.clear();
      history_.TakeDeletable(Sequence(99));
    } else if (Match(step, "the disk is slow")) {
      ports_.SetDiskSlow(true);
    } else if (Match(step, "the disk is quick")) {
      ports_.SetDiskSlow(false);
    } else if (Match(step, "both spans are held")) {
      recovery_.SetHoldings(0, 2);
    } else if (Match(step, "no life uses the state")) {
      recovery_.SetReplaceable(true);
    } else if (Match(step, "ask, and wait for no answer")) {
      recovery_.Pump(Instant());
    } else if (Match(step, "ask")) {
      // After any time to wait before a second try.
      now_ = now_ + absl::Minutes(1);
      recovery_.Pump(now_);
      ports_.Run();
    } else if (const auto a = Match(step, "recover to N")) {
      Recover(a->n[0]);
    } else {
      return NoSuchStep(step);
    }
    return absl::OkStatus();
  }

 private:
  void TestBody() override {}

  void Offer(Source source) {
    std::erase_if(offers_, [&](const Source& other) {
      return other.holder.peer.worker == source.holder.peer.worker;
    });
    offers_.push_back(std::move(source));
    Look();
  }

  void Look() { recovery_.SetView(offers_, keep_from_); }

  absl::Status Check(const Step& step) {
    if (const auto a = Match(step, "expect the true state N")) {
      return ExpectState(step, a->n[0]);
    }
    if (const auto a = Match(step, "expect pin N")) {
      return Expect(step, recovery_.pin().value() == a->n[0],
                    absl::StrCat("pin ", recovery_.pin().value()));
    }
    const uint64_t gap = recovery_.gap() ? recovery_.gap()->value() : 0;
    if (const auto a = Match(step, "expect result N to be missed")) {
      return Expect(step, gap == a->n[0], absl::StrCat("result ", gap));
    }
    if (const auto a =
            Match(step, "expect nothing of span N fetched before N")) {
      for (const auto& [worker, key] : ports_.fetched) {
        if (key.span == a->n[0] && key.sequence.value() < a->n[1]) {
          return Expect(step, false, absl::StrCat(key.sequence.value()));
        }
      }
      return absl::OkStatus();
    }
    return NoSuchStep(step);
  }

  absl::Status ExpectState(const Step& step, uint64_t sequence) {
    bool same = recovery_.ready();
    for (uint32_t span = 0; same && span < 2; ++span) {
      same = recovery_.StateOf(span)->hash == states_[span][sequence].hash;
    }
    return Expect(step, same,
                  absl::StrCat(recovery_.ready() ? "a state of " : "no state, ",
                               recovery_.applied().value()));
  }

  Instant now_;
  std::vector<Source> offers_;
  Sequence keep_from_;
};

}  // namespace

std::unique_ptr<Stage> MakeRecoveryStage() {
  return std::make_unique<RecoveryStage>();
}

}  // namespace skerry::scenarios
