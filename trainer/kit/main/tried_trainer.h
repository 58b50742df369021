// trainer/kit/main/tried_trainer.h
//
// One process of a trainer of any make, as a worker has it.
#ifndef SKERRY_TRAINER_KIT_MAIN_TRIED_TRAINER_H_
#define SKERRY_TRAINER_KIT_MAIN_TRIED_TRAINER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/element_range.h"
#include "grpcpp/grpcpp.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/posix/mutex.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/posix/process.h"
#include "runtime/posix/shared_memory.h"

namespace skerry::trainer::kit {

// A call that takes longer is given up.
inline constexpr absl::Duration kCallWithin = absl::Minutes(2);

absl::Status FromGrpc(const grpc::Status& status);

class TriedTrainer {
 public:
  using Stub = v1::Trainer::Stub;

  // Starts `command` with --socket, and answers calls about `job`. What the
  // process prints goes to `output_fd`. Codes: those of runtime::Process.
  static absl::StatusOr<std::unique_ptr<TriedTrainer>> Start(
      std::vector<std::string> command, const v1::JobSpec& job,
      int output_fd = 2);
  // Kills the process.
  ~TriedTrainer();
  TriedTrainer(const TriedTrainer&) = delete;
  TriedTrainer& operator=(const TriedTrainer&) = delete;

  // Makes a call and waits for its answer, for at most kCallWithin, or until
  // somebody cancels `context`.
  template <typename Request, typename Reply>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                 const Request&, Reply*),
                    const Request& request, Reply& reply,
                    grpc::ClientContext& context) {
    Prepare(context);
    return FromGrpc(((*stub_).*method)(&context, request, &reply));
  }
  template <typename Request, typename Reply>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                 const Request&, Reply*),
                    const Request& request, Reply& reply) {
    grpc::ClientContext context;
    return Call(method, request, reply, context);
  }

  // The request that a worker makes, with the memory once there is one.
  v1::DescribeRequest DescribeRequest() const;
  // Describes twice, with a memory the second time, and returns that reply.
  absl::StatusOr<v1::DescribeReply> SetUp();

  // After SetUp.
  std::span<float> state();
  absl::Status Run(uint64_t begin, uint64_t end, uint64_t batch,
                   v1::RunReply* reply = nullptr);
  absl::Status Snapshot(ElementRange range);
  absl::Status Load(ElementRange range);
  // All live values.
  absl::StatusOr<std::vector<float>> Values();

  void Signal(int signal) { process_->Signal(signal); }
  // How the process ended; nothing when it has not within `time`.
  std::optional<runtime::ProcessExit> AwaitExit(absl::Duration time);

 private:
  TriedTrainer(std::string socket, const v1::JobSpec& job);
  static void Prepare(grpc::ClientContext& context);

  const std::string socket_;
  const v1::JobSpec job_;
  runtime::Mutex mutex_;
  runtime::CondVar ended_;
  std::optional<runtime::ProcessExit> exit_ ABSL_GUARDED_BY(mutex_);
  runtime::PosixLoop loop_;
  std::unique_ptr<runtime::Process> process_;
  std::unique_ptr<Stub> stub_;
  std::unique_ptr<runtime::SharedMemory> memory_;
};

}  // namespace skerry::trainer::kit

#endif  // SKERRY_TRAINER_KIT_MAIN_TRIED_TRAINER_H_
