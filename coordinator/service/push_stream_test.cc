#include "coordinator/service/push_stream.h"

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::coordinator {
namespace {

// More than gRPC takes from a connection for a call that does not read.
v1::SubmitJobRequest LargeJob() {
  v1::SubmitJobRequest request;
  request.mutable_idempotency()->set_key("key");
  v1::JobSpec& spec = *request.mutable_spec();
  spec.set_name("large");
  spec.mutable_model()->set_config_json(
      absl::StrCat(job::kTinyConfig, std::string(250'000, ' ')));
  spec.mutable_data()->set_path("/data/text");
  spec.mutable_data()->set_manifest_sha256(std::string(64, 'a'));
  spec.mutable_data()->set_sequence_tokens(64);
  spec.mutable_training()->set_samples(1000);
  spec.mutable_training()->set_batch_samples(4);
  spec.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_DILOCO);
  return request;
}

// With the patience of this server the test would not end.
TEST(PushStreamTest, AServerThatStopsDoesNotWaitForACallerWhoDoesNotRead) {
  ServerOptions options = CoordinatorProcess::OnFreePort();
  options.stop_max = absl::Hours(1);
  MemoryDisk disk;
  CoordinatorProcess process(disk, options);
  ASSERT_TRUE(process.started().ok()) << process.started();
  const auto stub =
      v1::Operator::NewStub(transport::PlaintextChannel(process.address()));
  grpc::ClientContext submitting;
  submitting.set_deadline(gpr_time_from_seconds(20, GPR_TIMESPAN));
  v1::SubmitJobReply reply;
  const grpc::Status submitted =
      stub->SubmitJob(&submitting, LargeJob(), &reply);
  ASSERT_TRUE(submitted.ok()) << submitted.error_message();
  grpc::ClientContext watching;
  v1::GetJobRequest request;
  request.set_name("large");
  const auto watch = stub->WatchJob(&watching, request);
  watch->WaitForInitialMetadata();
  process.Stop();
  v1::JobView view;
  while (watch->Read(&view)) {
  }
  EXPECT_FALSE(watch->Finish().ok());
}

}  // namespace
}  // namespace skerry::coordinator
