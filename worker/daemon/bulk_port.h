// worker/daemon/bulk_port.h
//
// One job's BulkPort over the worker's bulk transport.
#ifndef SKERRY_WORKER_DAEMON_BULK_PORT_H_
#define SKERRY_WORKER_DAEMON_BULK_PORT_H_

#include <memory>
#include <string>

#include "base/ids.h"
#include "runtime/event_loop.h"
#include "transport/bulk.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Members are called on `loop`, which with `transport` outlives the object.
class JobBulkPort final : public BulkPort {
 public:
  JobBulkPort(JobId job, transport::BulkTransport& transport,
              runtime::EventLoop& loop);

  void SendFrame(const std::string& address,
                 const compression::FrameHeader& header,
                 const SharedBytes& payload) override;
  void ForgetBefore(Attempt attempt) override;
  void Fetch(const std::string& address, const PieceKey& key,
             Done<absl::StatusOr<SharedBytes>> done) override;

 private:
  const JobId job_;
  transport::BulkTransport& transport_;
  runtime::EventLoop& loop_;
  // Answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

transport::FetchKey ToFetchKey(JobId job, const PieceKey& key);
PieceKey FromFetchKey(const transport::FetchKey& key);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_BULK_PORT_H_
