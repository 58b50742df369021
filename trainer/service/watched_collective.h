// trainer/service/watched_collective.h
//
// A collective that reports the trainer's progress while it waits for the other
// members. So a trainer is not blamed for a member that stands still.
#ifndef SKERRY_TRAINER_SERVICE_WATCHED_COLLECTIVE_H_
#define SKERRY_TRAINER_SERVICE_WATCHED_COLLECTIVE_H_

#include <memory>
#include <utility>

#include "base/collective.h"
#include "trainer/service/work_progress.h"

namespace skerry::trainer {

class WatchedCollective final : public Collective {
 public:
  // `progress` outlives the object.
  WatchedCollective(std::shared_ptr<Collective> inner, WorkProgress& progress)
      : inner_(std::move(inner)), progress_(progress) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    const Waiting waiting(progress_);
    return inner_->AllReduceSum(values);
  }
  absl::Status Broadcast(std::span<float> values, int root) override {
    const Waiting waiting(progress_);
    return inner_->Broadcast(values, root);
  }
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override {
    const Waiting waiting(progress_);
    return inner_->AllToAll(to, from);
  }
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override {
    const Waiting waiting(progress_);
    return inner_->AllGather(piece, all);
  }

 private:
  class Waiting {
   public:
    explicit Waiting(WorkProgress& progress) : progress_(progress) {
      progress_.SetWaiting(true);
    }
    ~Waiting() { progress_.SetWaiting(false); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkProgress& progress_;
  };

  const std::shared_ptr<Collective> inner_;
  WorkProgress& progress_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_WATCHED_COLLECTIVE_H_
