// transport/grpc/testing/bulk_driver.h
//
// What the drivers of the conformance kit share that send through GrpcBulk
// (transport/testing/bulk_conformance.h).
#ifndef SKERRY_TRANSPORT_GRPC_TESTING_BULK_DRIVER_H_
#define SKERRY_TRANSPORT_GRPC_TESTING_BULK_DRIVER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/testing/bulk_nodes.h"
#include "transport/testing/recording_receiver.h"

namespace skerry::transport {

// Worker "a" sends to worker "b". Each driver says how they find each other. It
// calls End() in its destructor, while its directories are still there.
class BulkDriver {
 public:
  virtual ~BulkDriver() = default;

  virtual void Start(BulkReceiver& receiver) = 0;
  virtual void StartReceiving() = 0;
  virtual void StopReceiving() {
    Run([this] { receiving_.reset(); });
  }
  void RestartReceiving() {
    StopReceiving();
    StartReceiving();
  }
  void DestroySending() { sending_.reset(); }
  BulkTransport& sending() { return *sending_; }
  BulkTransport& receiving() { return *receiving_; }
  std::string peer() const { return "b"; }
  void Run(std::function<void()> task) { loop_.Run(std::move(task)); }
  void Await(std::function<bool()> is_so) { loop_.Await(std::move(is_so)); }
  // What is under way has a few turns of the loop to arrive; nothing depends on
  // how long that takes.
  void Settle() {
    int turns = 0;
    Await([&turns] { return ++turns > 20; });
  }

 protected:
  // `directory` and `receiver` outlive what is returned. On the loop.
  std::unique_ptr<GrpcBulk> Make(const std::string& name, Directory& directory,
                                 BulkReceiver& receiver,
                                 const std::string& address = "127.0.0.1:0") {
    GrpcBulkOptions options;
    options.listen_address = address;
    options.name = name;
    options.channels_per_peer = 1;  // the kit asks for order
    options.fetch_stall_max = absl::Milliseconds(200);
    return GrpcBulk::Start(options, loop_.loop, directory, receiver).value();
  }
  void End() {
    Run([this] {
      receiving_.reset();
      sending_.reset();
    });
  }

  BulkLoop loop_;
  RecordingReceiver nobody_;
  BulkReceiver* receiver_ = nullptr;
  std::unique_ptr<GrpcBulk> receiving_;
  std::unique_ptr<GrpcBulk> sending_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TESTING_BULK_DRIVER_H_
