// worker/daemon/control_channel.h
//
// The connection to the coordinator over gRPC, and the stream of
// Control.Session on it.
#ifndef SKERRY_WORKER_DAEMON_CONTROL_CHANNEL_H_
#define SKERRY_WORKER_DAEMON_CONTROL_CHANNEL_H_

#include <functional>
#include <memory>
#include <string>

#include "proto/skerry/v1/control.grpc.pb.h"
#include "runtime/event_loop.h"
#include "transport/grpc/credentials.h"
#include "worker/shell/session.h"

namespace skerry::worker {

struct ControlChannelOptions {
  // host:port of the coordinator.
  std::string coordinator;
  std::shared_ptr<transport::Credentials> credentials =
      transport::Credentials::Plaintext();
  // Takes the mark of the coordinator's identity (identity_folder.h) each time
  // a stream is up, on a thread of gRPC. May be unset.
  std::function<void(std::string mark)> on_mark = {};
};

class ControlChannel final : public SessionPort {
 public:
  // `loop` outlives the channel.
  ControlChannel(ControlChannelOptions options, runtime::EventLoop& loop);
  // Requires: there is no stream.
  ~ControlChannel() override;

  void Open(Events& events) override;
  void Write(const protocol::StatusFacts& status) override;
  void Cancel() override;
  bool IsConnected() override;

 private:
  class Stream;

  const ControlChannelOptions options_;
  runtime::EventLoop& loop_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Control::Stub> stub_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_CONTROL_CHANNEL_H_
