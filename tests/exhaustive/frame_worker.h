// tests/exhaustive/frame_worker.h
//
// A worker's real fragment (exchange, inbox, owed, recovery). Everything around
// it waits until a model lets it go on: background work, disk writes, fetches
// and time.
#ifndef SKERRY_TESTS_EXHAUSTIVE_FRAME_WORKER_H_
#define SKERRY_TESTS_EXHAUSTIVE_FRAME_WORKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/seat_fragment.h"
#include "worker/core/testing/recovery_fixture.h"

namespace skerry::exhaustive {

struct SentFrame {
  std::string to;
  compression::FrameHeader header;
  SharedBytes payload;
};

struct FrameJob {
  worker::JobSettings settings;
  worker::Layout layout;
  uint64_t part_bytes = 512;
};

class FrameWorker : public worker::BulkPort,
                    public worker::DiskPort,
                    public worker::HostPort {
 public:
  // Whom a fetch asks; outlives the worker.
  using Peers = std::function<absl::StatusOr<SharedBytes>(
      const std::string& name, const worker::PieceKey& key)>;

  FrameWorker(const FrameJob& job, std::string name, uint32_t begin,
              uint32_t end, const Peers& peers);

  // A state, a life and a round whose contribution waits: `start - live` is
  // `delta`, of all elements of the model.
  void Prepare(Life life, const data::RangeSet& ranges,
               const std::vector<float>& delta);

  // --- Events. Each says what caused the work that it leads to.
  void Hear(const protocol::FragmentOrders& orders,
            const std::vector<protocol::SpanHolder>& holders);
  protocol::FrameVerdict Take(const SentFrame& frame);
  // Does the waiting work at `index` of Work().
  void Run(size_t index);
  // Lets time pass until the worker's recovery tries again.
  void Wait();

  const std::string& name() const { return name_; }
  // Returns the hashes of the causes of all waiting work, oldest first.
  std::vector<uint64_t> Work() const;
  bool CanWait() const;
  std::vector<SentFrame> TakeSent() { return std::exchange(sent_, {}); }
  const worker::SeatFragment& fragment() const { return fragment_; }
  // The piece, if it is on the disk.
  absl::StatusOr<SharedBytes> Find(const worker::PieceKey& key) const;
  const std::string& failure() const { return failure_; }

 private:
  struct Task {
    uint64_t cause = 0;
    absl::AnyInvocable<void() &&> run;
  };

  void Cause(uint64_t cause);
  void Advance();
  void Later(absl::AnyInvocable<void() &&> task);
  void RunAll();

  void SendFrame(const std::string& to, const compression::FrameHeader& header,
                 const SharedBytes& payload) override {
    sent_.push_back({to, header, payload});
  }
  void ForgetBefore(uint32_t, Attempt) override {}
  void Fetch(const std::string& from, const worker::PieceKey& key,
             worker::Done<absl::StatusOr<SharedBytes>> done) override;
  void Store(const worker::StoredFile& file, std::vector<SharedBytes> contents,
             worker::Done<absl::Status> done) override;
  absl::StatusOr<SharedBytes> Map(const worker::StoredFile& file,
                                  uint32_t span) override;
  void Delete(const worker::StoredFile& file) override;
  void Compute(absl::AnyInvocable<void() &&> work,
               absl::AnyInvocable<void(Instant now) &&> done) override;
  void StatusChanged() override {}
  void Event(std::string_view) override {}
  void Trace(std::string_view) override {}

  const FrameJob& job_;
  const std::string name_;
  const Peers& peers_;
  worker::NoTrainer trainer_;
  worker::NoPeers cuts_;
  Instant now_{absl::Seconds(1)};
  bool advancing_ = false;
  bool again_ = false;
  uint64_t cause_ = 0;
  // Number of tasks that the present cause has led to.
  uint64_t tasks_ = 0;
  std::vector<Task> work_;
  std::vector<SentFrame> sent_;
  std::vector<std::pair<worker::StoredFile, std::vector<SharedBytes>>> disk_;
  std::vector<float> live_;
  std::string failure_;
  worker::SeatFragment fragment_;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_FRAME_WORKER_H_
