// worker/main/receiver_switch.h
//
// Receives what other workers send from the moment that a worker listens, and
// passes it on once there is somebody to take it.
#ifndef SKERRY_WORKER_MAIN_RECEIVER_SWITCH_H_
#define SKERRY_WORKER_MAIN_RECEIVER_SWITCH_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/bulk.h"

namespace skerry::worker {

// Offers of frames before the daemon is there are answered like those before
// a job is.
class ReceiverSwitch final : public transport::BulkReceiver {
 public:
  void set_target(transport::BulkReceiver* target) { target_ = target; }

  FrameVerdict OnFrame(const std::string& from,
                       const compression::FrameHeader& header,
                       const SharedBytes& payload) override {
    if (target_ == nullptr) return FrameVerdict::kNotYet;
    return target_->OnFrame(from, header, payload);
  }
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher& fetcher,
                                      const PieceKey& key) override {
    if (target_ == nullptr) {
      return absl::UnavailableError("the worker is starting or stopping");
    }
    return target_->OnFetch(fetcher, key);
  }
  void OnDataFetch(const transport::Fetcher& fetcher, const PieceKey& key,
                   FetchAnswer answer) override {
    if (target_ == nullptr) {
      return std::move(answer)(
          absl::UnavailableError("the worker is starting or stopping"));
    }
    target_->OnDataFetch(fetcher, key, std::move(answer));
  }

 private:
  transport::BulkReceiver* target_ = nullptr;  // touched on the loop
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_MAIN_RECEIVER_SWITCH_H_
