// worker/core/testing/world_ports.h
//
// Gives one worker in a World its ports, and keeps the state that outlives its
// seat.
#ifndef SKERRY_WORKER_CORE_TESTING_WORLD_PORTS_H_
#define SKERRY_WORKER_CORE_TESTING_WORLD_PORTS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/testing/world.h"

namespace skerry::worker {

// A process dies with its token. What it asked for is then answered to nobody.
using Token = std::shared_ptr<char>;

struct World::Worker : TrainerPort, BulkPort, DiskPort, PeerPort, HostPort {
  World& world;
  const uint32_t index;
  const uint32_t replica;
  const uint32_t rank;
  const protocol::PeerAddress self;
  Token alive;    // of the process
  Token trainer;  // of the trainer
  std::unique_ptr<Seat> seat;
  std::shared_ptr<std::vector<float>> shared;  // with the trainer
  std::vector<float> live;
  std::function<void()> cancel;
  std::map<uint32_t, Attempt> forget_before;  // by fragment
  // What the trainer was given, newest last.
  std::vector<ElementRange> loads;
  // The largest change of a value in each of those loads.
  std::vector<float> moves;
  // What the newest run trains on, and what was said to come next.
  data::RangeSet ran;
  data::RangeSet upcoming;
  // The runs that the trainer's inner state has behind it, those of the state
  // that was saved last with its label, and what the next load of it answers.
  uint64_t inner = 0;
  std::optional<std::pair<InnerLabel, uint64_t>> saved_inner;
  absl::Status inner_load;
  int inner_saves = 0;
  bool in_group = false;
  bool joined_before_load = false;
  std::map<std::string, std::pair<StoredFile, std::vector<SharedBytes>>> disk;
  bool disk_full = false;
  // By the names of their files: pieces that were given ahead in this life.
  std::map<std::string, std::map<size_t, SharedBytes>> ahead;
  std::vector<std::string> events;
  // Whether the seat has called for a Status since the last event.
  bool told = true;
  JobFacts last;
  // The elements that the trainer loads while it waits for the others of its
  // group, and what ends that load.
  std::optional<ElementRange> loading;
  std::function<void()> loaded;

  Worker(World& w, uint32_t i, uint32_t r, uint32_t k)
      : world(w),
        index(i),
        replica(r),
        rank(k),
        self{"w" + std::to_string(i), "host:" + std::to_string(i),
             "inside:" + std::to_string(i)} {}

  void StartTrainer();
  // Runs `task` later unless the process died.
  void Later(Token token, std::function<void()> task);
  template <typename T>
  void Answer(Token token, Done<T> done, T result) {
    auto shared = std::make_shared<Done<T>>(std::move(done));
    auto value = std::make_shared<T>(std::move(result));
    Later(token, [this, shared, value] {
      std::move (*shared)(world.now(), std::move(*value));
    });
  }

  void JoinGroup(const TrainerGroup& group, Done<absl::Status> done) override;
  void StartRun(const data::RangeSet& ranges, const data::RangeSet& next,
                uint64_t batch, Done<absl::StatusOr<RunReport>> done) override;
  void Cancel() override;
  void Snapshot(const ElementRange& range, Done<absl::Status> done) override;
  void Load(const ElementRange& range, Done<absl::Status> done) override;
  void Evaluate(uint64_t samples_max,
                Done<absl::StatusOr<EvaluationReport>> done) override;
  void Generate(const GenerateRequest& request,
                Done<absl::StatusOr<std::string>> done) override;
  bool CanSaveInner() override { return true; }
  void SaveInner(const InnerLabel& label, Done<absl::Status> done) override;
  void LoadInner(uint64_t layout_hash,
                 Done<absl::StatusOr<InnerProgress>> done) override;
  TrainerMemory memory() override { return {shared, *shared}; }
  void Restart(const absl::Status& why) override;

  void SendFrame(const std::string& to, const compression::FrameHeader& header,
                 const SharedBytes& payload) override;
  void ForgetBefore(uint32_t fragment, Attempt attempt) override {
    forget_before[fragment] = attempt;
  }
  void Fetch(const std::string& from, const PieceKey& key,
             Done<absl::StatusOr<SharedBytes>> done) override;

  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override;
  void StoreAhead(const StoredFile& file, size_t index,
                  const SharedBytes& content) override;
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override;
  void Delete(const StoredFile& file) override;

  void AgreeCut(const std::string& to, const CutRequest& request,
                Done<absl::StatusOr<CutReply>> done) override;

  void Compute(absl::AnyInvocable<void() &&> work,
               absl::AnyInvocable<void(Instant now) &&> done) override;
  void StatusChanged() override { told = true; }
  void Event(std::string_view line) override { events.emplace_back(line); }
  void Trace(std::string_view line) override { events.emplace_back(line); }
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TESTING_WORLD_PORTS_H_
