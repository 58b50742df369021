// What an operator wants of a worker, from one wire to the other.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/release.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::coordinator {
namespace {

class WorkerIntentTest : public testing::Test {
 protected:
  WorkerIntentTest() : process_(disk_) {
    EXPECT_TRUE(process_.started().ok()) << process_.started();
    channel_ = transport::PlaintextChannel(process_.address());
  }
  grpc::Status Set(v1::WorkerIntent intent, const std::string& key,
                   v1::WorkerView* view) {
    v1::SetWorkerIntentRequest request;
    request.mutable_idempotency()->set_key(key);
    request.set_worker("a");
    request.set_intent(intent);
    grpc::ClientContext context;
    context.set_deadline(gpr_time_from_seconds(20, GPR_TIMESPAN));
    return v1::Operator::NewStub(channel_)->SetWorkerIntent(&context, request,
                                                            view);
  }

  MemoryDisk disk_;
  CoordinatorProcess process_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(WorkerIntentTest, AWorkerHearsThatItIsToDrainAndMayStay) {
  const auto stub = v1::Control::NewStub(channel_);
  grpc::ClientContext context;
  const auto stream = stub->Session(&context);
  v1::Status status;
  status.set_protocol_version(kProtocolVersion);
  status.mutable_self()->set_worker("a");
  status.mutable_self()->set_address("127.0.0.1:1");
  status.set_island("north");
  status.set_boot(7);
  status.set_counter(1);
  ASSERT_TRUE(stream->Write(status));
  v1::Orders orders;
  ASSERT_TRUE(stream->Read(&orders));
  EXPECT_FALSE(orders.drain());
  v1::WorkerView view;
  EXPECT_EQ(Set(v1::WORKER_INTENT_DRAIN, "", &view).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Set(v1::WORKER_INTENT_UNSPECIFIED, "key", &view).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(Set(v1::WORKER_INTENT_DRAIN, "key", &view).ok());
  EXPECT_EQ(view.state(), "drained");
  EXPECT_EQ(view.intent(), v1::WORKER_INTENT_DRAIN);
  ASSERT_TRUE(stream->Read(&orders));
  EXPECT_TRUE(orders.drain());
  EXPECT_FALSE(orders.released());
  ASSERT_TRUE(Set(v1::WORKER_INTENT_SERVE, "key 2", &view).ok());
  EXPECT_EQ(view.state(), "connected");
  ASSERT_TRUE(stream->Read(&orders));
  EXPECT_FALSE(orders.drain());
  context.TryCancel();
  while (stream->Read(&orders)) {
  }
  stream->Finish();
}

}  // namespace
}  // namespace skerry::coordinator
