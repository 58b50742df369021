#include "coordinator/service/coordinator_server.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "coordinator/service/sqlite_journal.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "runtime/posix/posix_executor.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::coordinator {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

v1::JobSpec SpecNamed(const std::string& name) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.mutable_model()->set_config_json(job::kTinyConfig);
  spec.mutable_data()->set_path("/data/text");
  spec.mutable_data()->set_manifest_sha256(std::string(64, 'a'));
  spec.mutable_data()->set_sequence_tokens(64);
  spec.mutable_training()->set_samples(1000);
  spec.mutable_training()->set_batch_samples(4);
  spec.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_DILOCO);
  return spec;
}

v1::Status StatusOf(const std::string& worker, uint64_t boot) {
  v1::Status status;
  status.set_protocol_version(kProtocolVersion);
  status.set_release(kRelease);
  status.mutable_self()->set_worker(worker);
  status.mutable_self()->set_address("127.0.0.1:1");
  status.set_island("north");
  status.set_boot(boot);
  status.set_folder(1);
  status.set_counter(1);
  return status;
}

// A worker's end of the stream.
class Worker {
 public:
  explicit Worker(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Control::NewStub(channel)),
        stream_(stub_->Session(&context_)) {}
  ~Worker() {
    context_.TryCancel();
    if (!ended_) stream_->Finish();
  }
  bool Say(const v1::Status& status) { return stream_->Write(status); }
  v1::Orders Hear() {
    v1::Orders orders;
    EXPECT_TRUE(stream_->Read(&orders));
    return orders;
  }
  // What ends the stream, after whatever is still said on it.
  grpc::Status End() {
    v1::Orders orders;
    while (stream_->Read(&orders)) {
    }
    ended_ = true;
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Control::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Status, v1::Orders>> stream_;
  bool ended_ = false;
};

class CoordinatorServerTest : public testing::Test {
 protected:
  CoordinatorServerTest() : process_(disk_) {
    EXPECT_TRUE(process_.started().ok()) << process_.started();
    channel_ = transport::PlaintextChannel(process_.address());
    stub_ = v1::Operator::NewStub(channel_);
  }

  // Calls with a deadline.
  template <typename Reply, typename Request>
  grpc::Status Call(grpc::Status (v1::Operator::Stub::*method)(
                        grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_from_seconds(20, GPR_TIMESPAN));
    return (stub_.get()->*method)(&context, request, reply);
  }
  grpc::Status Submit(const std::string& name, const std::string& key,
                      v1::SubmitJobReply* reply) {
    v1::SubmitJobRequest request;
    request.mutable_idempotency()->set_key(key);
    *request.mutable_spec() = SpecNamed(name);
    return Call(&v1::Operator::Stub::SubmitJob, request, reply);
  }
  grpc::Status Cancel(const std::string& name) {
    v1::CancelJobRequest request;
    request.mutable_idempotency()->set_key("cancel");
    request.set_name(name);
    v1::JobView view;
    return Call(&v1::Operator::Stub::CancelJob, request, &view);
  }

  MemoryDisk disk_;
  CoordinatorProcess process_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Operator::Stub> stub_;
};

TEST_F(CoordinatorServerTest, AWorkerThatSaysItsStatusGetsItsOrders) {
  Worker worker(channel_);
  ASSERT_TRUE(worker.Say(StatusOf("a", 7)));
  const v1::Orders orders = worker.Hear();
  EXPECT_EQ(orders.boot(), 7u);
  EXPECT_EQ(orders.incarnation(), 1u);
  EXPECT_EQ(orders.revision(), 1u);
  EXPECT_EQ(orders.lease_ms(), 10'000u);
  EXPECT_EQ(orders.protocol_version(), kProtocolVersion);
  v1::Status again = StatusOf("a", 7);
  again.set_incarnation(1);
  again.set_counter(2);
  ASSERT_TRUE(worker.Say(again));
  EXPECT_EQ(worker.Hear().incarnation(), 1u);
  v1::ListWorkersReply workers;
  ASSERT_TRUE(
      Call(&v1::Operator::Stub::ListWorkers, v1::ListWorkersRequest(), &workers)
          .ok());
  ASSERT_EQ(workers.workers_size(), 1);
  EXPECT_EQ(workers.workers(0).state(), "connected");
}

TEST_F(CoordinatorServerTest, AnotherProtocolIsRefusedAndBothAreNamed) {
  Worker worker(channel_);
  v1::Status status = StatusOf("a", 7);
  status.set_protocol_version(99);
  status.set_release("9.9");
  worker.Say(status);
  const grpc::Status end = worker.End();
  EXPECT_EQ(end.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(end.error_message(), HasSubstr("99"));
  EXPECT_THAT(end.error_message(),
              HasSubstr(absl::StrCat("coordinator ", kProtocolVersion)));
}

TEST_F(CoordinatorServerTest, ANewerStreamOfAWorkerReplacesTheOlder) {
  Worker older(channel_);
  older.Say(StatusOf("a", 7));
  older.Hear();
  Worker newer(channel_);
  v1::Status again = StatusOf("a", 7);
  again.set_incarnation(1);
  again.set_counter(2);
  newer.Say(again);
  EXPECT_EQ(newer.Hear().incarnation(), 1u);
  EXPECT_EQ(older.End().error_code(), StatusCode::ABORTED);
}

TEST_F(CoordinatorServerTest, ASupersededBootIsToldToStartAnew) {
  Worker first(channel_);
  first.Say(StatusOf("a", 7));
  first.Hear();
  Worker second(channel_);
  second.Say(StatusOf("a", 8));
  EXPECT_EQ(second.Hear().incarnation(), 2u);
  Worker late(channel_);
  v1::Status status = StatusOf("a", 7);
  status.set_counter(5);
  late.Say(status);
  EXPECT_EQ(late.End().error_code(), StatusCode::ABORTED);
  // The newer one keeps its stream.
  v1::Status alive = StatusOf("a", 8);
  alive.set_incarnation(2);
  alive.set_counter(2);
  ASSERT_TRUE(second.Say(alive));
  EXPECT_EQ(second.Hear().incarnation(), 2u);
}

TEST_F(CoordinatorServerTest, AStreamSpeaksForOneWorker) {
  Worker worker(channel_);
  worker.Say(StatusOf("a", 7));
  worker.Hear();
  worker.Say(StatusOf("b", 7));
  EXPECT_EQ(worker.End().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(CoordinatorServerTest, AnOversizedStatusEndsTheStreamAlone) {
  Worker worker(channel_);
  v1::Status status = StatusOf("a", 7);
  status.set_island(std::string(2 << 20, 'x'));
  worker.Say(status);
  EXPECT_EQ(worker.End().error_code(), StatusCode::RESOURCE_EXHAUSTED);
  v1::ListJobsReply jobs;
  EXPECT_TRUE(
      Call(&v1::Operator::Stub::ListJobs, v1::ListJobsRequest(), &jobs).ok());
}

TEST_F(CoordinatorServerTest, ASubmittedJobIsThereAndRepeatingChangesNothing) {
  v1::SubmitJobReply first;
  const grpc::Status submitted = Submit("one", "key", &first);
  ASSERT_TRUE(submitted.ok()) << submitted.error_message();
  EXPECT_EQ(first.job().spec().name(), "one");
  EXPECT_EQ(first.job().phase(), v1::JOB_PHASE_PENDING);
  v1::SubmitJobReply repeated;
  ASSERT_TRUE(Submit("one", "key", &repeated).ok());
  EXPECT_EQ(repeated.job().id(), first.job().id());
  v1::SubmitJobReply other;
  EXPECT_EQ(Submit("one", "other key", &other).error_code(),
            StatusCode::ALREADY_EXISTS);
  v1::ListJobsReply jobs;
  ASSERT_TRUE(
      Call(&v1::Operator::Stub::ListJobs, v1::ListJobsRequest(), &jobs).ok());
  EXPECT_EQ(jobs.jobs_size(), 1);
  v1::GetJobRequest by_id;
  by_id.set_id(first.job().id());
  v1::JobView view;
  ASSERT_TRUE(Call(&v1::Operator::Stub::GetJob, by_id, &view).ok());
  EXPECT_EQ(view.spec().name(), "one");
}

TEST_F(CoordinatorServerTest, WhatIsWrongWithACallIsSaid) {
  v1::SubmitJobReply reply;
  EXPECT_EQ(Submit("one", "", &reply).error_code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Submit("Not A Name", "key", &reply).error_code(),
            StatusCode::INVALID_ARGUMENT);
  v1::GetJobRequest request;
  v1::JobView view;
  EXPECT_EQ(Call(&v1::Operator::Stub::GetJob, request, &view).error_code(),
            StatusCode::INVALID_ARGUMENT);
  request.set_name("nobody");
  const grpc::Status missing =
      Call(&v1::Operator::Stub::GetJob, request, &view);
  EXPECT_EQ(missing.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(missing.error_message(), HasSubstr("nobody"));
  EXPECT_EQ(Cancel("nobody").error_code(), StatusCode::NOT_FOUND);
}

TEST_F(CoordinatorServerTest, AUnaryCallWithoutADeadlineIsRefused) {
  grpc::ClientContext context;
  v1::ListJobsReply jobs;
  const grpc::Status status =
      stub_->ListJobs(&context, v1::ListJobsRequest(), &jobs);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("deadline"));
}

TEST_F(CoordinatorServerTest, VersionsThatDoNotMeetAreNamed) {
  v1::GetVersionRequest request;
  request.set_protocol_version(99);
  v1::GetVersionReply reply;
  const grpc::Status status =
      Call(&v1::Operator::Stub::GetVersion, request, &reply);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("protocol 99"));
  request.set_protocol_version(kProtocolVersion);
  ASSERT_TRUE(Call(&v1::Operator::Stub::GetVersion, request, &reply).ok());
  EXPECT_EQ(reply.release(), kRelease);
}

TEST_F(CoordinatorServerTest, AWatchBeginsWithAViewAndEndsWithTheJob) {
  v1::SubmitJobReply reply;
  ASSERT_TRUE(Submit("one", "key", &reply).ok());
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_name("one");
  const auto watch = stub_->WatchJob(&context, request);
  v1::JobView view;
  ASSERT_TRUE(watch->Read(&view));
  EXPECT_EQ(view.phase(), v1::JOB_PHASE_PENDING);
  ASSERT_TRUE(Cancel("one").ok());
  v1::JobPhase last = v1::JOB_PHASE_UNSPECIFIED;
  while (watch->Read(&view)) last = view.phase();
  EXPECT_EQ(last, v1::JOB_PHASE_CANCELLED);
  EXPECT_TRUE(watch->Finish().ok());
}

TEST_F(CoordinatorServerTest, EventsAreReadOnceAndFollowedToTheEnd) {
  v1::SubmitJobReply reply;
  ASSERT_TRUE(Submit("one", "key", &reply).ok());
  grpc::ClientContext context;
  v1::StreamEventsRequest request;
  request.set_name("one");
  request.set_follow(true);
  const auto events = stub_->StreamEvents(&context, request);
  std::vector<std::string> names;
  v1::Event event;
  ASSERT_TRUE(events->Read(&event));
  names.push_back(event.name());
  ASSERT_TRUE(Cancel("one").ok());
  while (events->Read(&event)) names.push_back(event.name());
  EXPECT_TRUE(events->Finish().ok());
  EXPECT_THAT(names, ElementsAre("JobSubmitted", "JobEnded"));

  grpc::ClientContext later;
  request.set_after(reply.job().id());
  request.set_follow(false);
  const auto rest = stub_->StreamEvents(&later, request);
  ASSERT_TRUE(rest->Read(&event));
  EXPECT_EQ(event.name(), "JobEnded");
  EXPECT_FALSE(rest->Read(&event));
}

TEST_F(CoordinatorServerTest, StreamsAboutUnknownJobsAreRefused) {
  v1::GetJobRequest request;
  request.set_name("nobody");
  grpc::ClientContext context;
  v1::JobView view;
  const auto watch = stub_->WatchJob(&context, request);
  EXPECT_FALSE(watch->Read(&view));
  EXPECT_EQ(watch->Finish().error_code(), StatusCode::NOT_FOUND);
  v1::StreamEventsRequest wanted;
  wanted.set_id(77);
  grpc::ClientContext other;
  v1::Event event;
  const auto events = stub_->StreamEvents(&other, wanted);
  EXPECT_FALSE(events->Read(&event));
  EXPECT_EQ(events->Finish().error_code(), StatusCode::NOT_FOUND);
}

TEST_F(CoordinatorServerTest, GenerateSaysWhyItCannot) {
  v1::GenerateTextRequest request;
  request.set_name("nobody");
  request.set_prompt("In the");
  request.set_tokens(1);
  v1::GenerateTextReply reply;
  EXPECT_EQ(Call(&v1::Operator::Stub::Generate, request, &reply).error_code(),
            StatusCode::NOT_FOUND);
  v1::SubmitJobReply submitted;
  ASSERT_TRUE(Submit("one", "key", &submitted).ok());
  request.set_name("one");
  EXPECT_EQ(Call(&v1::Operator::Stub::Generate, request, &reply).error_code(),
            StatusCode::FAILED_PRECONDITION);
}

TEST_F(CoordinatorServerTest, ACallerThatLeavesItsWatchIsForgotten) {
  v1::SubmitJobReply reply;
  ASSERT_TRUE(Submit("one", "key", &reply).ok());
  v1::GetJobRequest request;
  request.set_name("one");
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    const auto watch = stub_->WatchJob(&context, request);
    v1::JobView view;
    ASSERT_TRUE(watch->Read(&view));
    context.TryCancel();
    EXPECT_EQ(watch->Finish().error_code(), StatusCode::CANCELLED);
  }
  EXPECT_TRUE(Cancel("one").ok());
}

TEST_F(CoordinatorServerTest, StopEndsEveryStreamAsUnavailable) {
  Worker worker(channel_);
  worker.Say(StatusOf("a", 7));
  worker.Hear();
  v1::SubmitJobReply reply;
  ASSERT_TRUE(Submit("one", "key", &reply).ok());
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_name("one");
  const auto watch = stub_->WatchJob(&context, request);
  v1::JobView view;
  ASSERT_TRUE(watch->Read(&view));
  const size_t records = disk_.entries.size();
  process_.Stop();
  EXPECT_EQ(worker.End().error_code(), StatusCode::UNAVAILABLE);
  while (watch->Read(&view)) {
  }
  EXPECT_EQ(watch->Finish().error_code(), StatusCode::UNAVAILABLE);
  // Stopping is not the workers' loss: nothing was decided about them.
  EXPECT_EQ(disk_.entries.size(), records);
}

TEST_F(CoordinatorServerTest, TheHealthServiceSaysServing) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  // A HealthCheckRequest for the whole server has no bytes.
  const grpc::Slice nothing;
  const grpc::ByteBuffer empty(&nothing, 1);
  const auto call = stub.PrepareUnaryCall(
      &context, "/grpc.health.v1.Health/Check", empty, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  ASSERT_TRUE(status.ok()) << status.error_message();
  grpc::Slice bytes;
  ASSERT_TRUE(reply.DumpToSingleSlice(&bytes).ok());
  // HealthCheckResponse{status: SERVING}.
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "\x08\x01");
}

TEST_F(CoordinatorServerTest, AnAddressThatLeavesTheMachineIsRefused) {
  MemoryDisk disk;
  ServerOptions options = CoordinatorProcess::OnFreePort();
  options.listen = "0.0.0.0:0";
  CoordinatorProcess process(disk, options);
  EXPECT_EQ(process.started().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CoordinatorServerTest, ATakenPortIsSaid) {
  MemoryDisk disk;
  ServerOptions options = CoordinatorProcess::OnFreePort();
  options.listen = process_.address();
  CoordinatorProcess process(disk, options);
  EXPECT_EQ(process.started().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(process.started().message()),
              HasSubstr(process_.address()));
}

TEST_F(CoordinatorServerTest, AnAcknowledgedJobSurvivesAKill) {
  std::string root = testing::TempDir() + "coordinator-XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  runtime::PosixExecutor writes("journal", 1);
  const auto open_in = [&](const std::string& folder) {
    return [&writes, folder](runtime::EventLoop& loop) {
      auto journal =
          SqliteJournal::Open(folder, 0, writes, loop,
                              [](absl::Status why) { ADD_FAILURE() << why; });
      EXPECT_TRUE(journal.ok()) << journal.status();
      return std::unique_ptr<Journal>(*std::move(journal));
    };
  };
  uint64_t before = 0;
  {
    CoordinatorProcess process(open_in(root + "/live"));
    ASSERT_TRUE(process.started().ok()) << process.started();
    const auto channel = transport::PlaintextChannel(process.address());
    stub_ = v1::Operator::NewStub(channel);
    v1::SubmitJobReply reply;
    ASSERT_TRUE(Submit("one", "key 1", &reply).ok());
    ASSERT_TRUE(Submit("two", "key 2", &reply).ok());
    ASSERT_TRUE(Cancel("one").ok());
    Worker worker(channel);
    worker.Say(StatusOf("a", 7));
    worker.Hear();
    before = process.server().StateHash();
    // What a kill leaves: the files as they are while the process runs.
    std::filesystem::copy(root + "/live", root + "/after");
  }
  CoordinatorProcess again(open_in(root + "/after"));
  ASSERT_TRUE(again.started().ok()) << again.started();
  EXPECT_EQ(again.server().StateHash(), before);
  stub_ = v1::Operator::NewStub(transport::PlaintextChannel(again.address()));
  v1::SubmitJobReply repeated;
  ASSERT_TRUE(Submit("two", "key 2", &repeated).ok());
  EXPECT_EQ(again.server().StateHash(), before);
  again.Stop();
  std::filesystem::remove_all(root);
}

TEST(CoordinatorServerAdminTest, ItIsReadyFromRecoveryUntilItStops) {
  MemoryDisk disk;
  runtime::PosixLoop loop("coordinator");
  MemoryJournal journal(disk, loop);
  CoordinatorServer server(CoordinatorProcess::OnFreePort(), loop, journal);
  EXPECT_TRUE(server.Healthy().ok());
  EXPECT_EQ(server.Ready().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.Metrics().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(server.LookForPage(Revision()).ok());
  ASSERT_TRUE(server.Start().ok());
  EXPECT_TRUE(server.Ready().ok());
  const auto metrics = server.Metrics();
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->front().name, "skerry_build_info");
  EXPECT_TRUE(server.LookForPage(Revision()).ok());
  server.Stop();
  EXPECT_TRUE(server.Healthy().ok());
  EXPECT_EQ(server.Ready().code(), absl::StatusCode::kUnavailable);
  loop.Stop();
}

}  // namespace
}  // namespace skerry::coordinator
