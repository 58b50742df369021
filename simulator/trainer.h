// simulator/trainer.h
//
// A trainer process on a simulated machine. The workers of one replica compute
// the same values.
#ifndef SKERRY_SIMULATOR_TRAINER_H_
#define SKERRY_SIMULATOR_TRAINER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "simulator/process.h"
#include "simulator/setting.h"
#include "simulator/sim_model.h"
#include "worker/core/effects.h"
#include "worker/core/seat.h"
#include "worker/core/trainer_watch.h"
#include "worker/daemon/seat_answers.h"
#include "worker/shell/job_ports.h"

namespace skerry::sim {

// Lets the trainers of a replica wait for each other: no member of a group goes
// on before all have come to a step.
class TrainerIslands {
 public:
  enum class Step { kJoin, kLoad };
  struct Arrival {
    std::weak_ptr<char> alive;  // expires when the member dies or gives up
    ElementRange range;
    std::vector<float>* shared = nullptr;
    std::vector<float>* live = nullptr;
    std::function<void()> go_on;
  };
  void Meet(JobId job, Step step, const worker::TrainerGroup& group,
            Arrival arrival);

 private:
  using Key = std::tuple<uint64_t, uint64_t, Step>;  // job, life
  std::map<Key, std::map<uint32_t, Arrival>> waiting_;
};

struct TrainerShape {
  JobId job;
  // Time that the trainer takes for one sample.
  absl::Duration compute;
  // How long a member of a group waits for the others at most.
  absl::Duration meeting_max;
  Pace pace;
  // Whether it computes with the trainers of other workers.
  bool groups = true;
  // Added to the model's initial values. On a worker with an odd number here
  // every start of the trainer has values of its own.
  std::optional<uint64_t> own_initial;
  // The first element that is averaged; 0 when none is.
  uint64_t average_begin = 0;
  // Number of samples in the data's validation split.
  uint64_t validation_samples = 1'000'000;
};

// How a trainer hangs.
enum class Hang {
  kStopped,     // the process stands still and answers nothing
  kStandstill,  // it answers, and its work does not go on
};

class SimTrainer final : public worker::ProcessPort {
 public:
  // Its live values, when inner steps begin and when they have been taken.
  using Trains = std::function<void(bool begins, std::span<const float> live)>;

  // All but the model outlive the trainer.
  SimTrainer(const TrainerShape& shape, std::unique_ptr<SimModel> model,
             Process& process, Random& random,
             const worker::SeatAnswers& answers, TrainerIslands& islands,
             worker::JobListener& listener, Trains trains);

  // No call is answered any more, until the process dies.
  void Stand(Hang how);

  void Start(const worker::TrainerStart& start) override;
  void Ask(absl::AnyInvocable<void(absl::StatusOr<worker::TrainerProgress>) &&>
               done) override;
  // The process dies, unless it has.
  void Fail(const absl::Status& why) override;
  void Drop() override;
  // Where its trainers meet is no question here.
  void SetHead(const std::string&) override {}
  void OnMeet(const worker::MeetRequest&,
              worker::GroupMeeting::Answer answer) override;
  void JoinGroup(const worker::TrainerGroup& group,
                 worker::Done<absl::Status> done) override;
  void StartRun(const data::RangeSet& ranges, const data::RangeSet& upcoming,
                uint64_t replica_batch_samples,
                worker::Done<absl::StatusOr<worker::RunReport>> done) override;
  void Cancel() override;
  void Snapshot(const ElementRange& range,
                worker::Done<absl::Status> done) override;
  void Load(const ElementRange& range,
            worker::Done<absl::Status> done) override;
  void Evaluate(
      uint64_t samples_max,
      worker::Done<absl::StatusOr<worker::EvaluationReport>> done) override;
  void Generate(const worker::GenerateRequest& request,
                worker::Done<absl::StatusOr<std::string>> done) override;
  // Simulated trainers have no inner state.
  bool CanSaveInner() override { return false; }
  void SaveInner(const worker::InnerLabel&,
                 worker::Done<absl::Status>) override {}
  void LoadInner(uint64_t,
                 worker::Done<absl::StatusOr<worker::InnerProgress>>) override {
  }
  worker::TrainerMemory memory() override { return {shared_, *shared_}; }
  void Restart(const absl::Status& why) override {
    listener_.OnTrainerRestart(why);
  }

 private:
  // Returns what the process answers about its progress; nothing when it is
  // stopped or not there.
  std::optional<worker::TrainerProgress> Progress() const;
  void Enter(worker::TrainerPhase phase);
  // Runs `task` on the loop after `wait`, unless the trainer died or hangs.
  void Later(absl::Duration wait, runtime::Task task);
  // Makes the initial values those of this worker, if they are to differ.
  void StirInitial();
  // Nothing that was started will end.
  void LeaveAll();
  absl::Duration Moment();
  // Returns how long it takes to copy `range` from the trainer to shared
  // memory.
  absl::Duration CopyTime(const ElementRange& range);
  absl::Duration EvaluationTime(uint64_t samples);
  void Meet(TrainerIslands::Step step, const ElementRange& range,
            worker::Done<absl::Status> done);

  const TrainerShape shape_;
  const std::unique_ptr<SimModel> model_;
  Process& process_;
  Random& random_;
  const worker::SeatAnswers& answers_;
  TrainerIslands& islands_;
  worker::JobListener& listener_;
  const Trains trains_;
  bool running_ = false;
  uint64_t starts_ = 0;
  std::optional<Hang> hang_;
  worker::TrainerProgress progress_;
  // When the newest Run began, and how long each of its steps takes. The latter
  // is zero while no Run is in progress.
  Instant run_since_;
  absl::Duration step_time_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  std::shared_ptr<char> meeting_;  // null unless it waits for its group
  std::shared_ptr<std::vector<float>> shared_;
  std::vector<float> live_;
  worker::TrainerGroup group_;
  // Ends the call in progress with Aborted; empty when it cannot.
  std::function<void()> abort_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_TRAINER_H_
