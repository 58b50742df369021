#include "cli/client.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::cli {
namespace {

using coordinator::CoordinatorProcess;
using coordinator::MemoryDisk;
using coordinator::ServerOptions;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kForEver = absl::InfiniteDuration();

v1::JobSpec SpecNamed(const std::string& name) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.mutable_model()->set_config_json(job::kTinyConfig);
  spec.mutable_data()->set_path("/data/text");
  spec.mutable_data()->set_manifest_sha256(std::string(64, 'a'));
  spec.mutable_training()->set_samples(1000);
  spec.mutable_training()->set_batch_samples(4);
  spec.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_DILOCO);
  return spec;
}

// A coordinator that can be replaced by another on its port and its disk.
class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    process_.emplace(disk_);
    EXPECT_TRUE(process_->started().ok()) << process_->started();
    address_ = process_->address();
    client_ = Connect();
  }
  std::unique_ptr<Client> Connect() {
    auto client = Client::Make(address_, transport::Credentials::Plaintext());
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  void Restart() {
    process_.reset();
    ServerOptions options;
    options.listen = address_;
    process_.emplace(disk_, options);
    ASSERT_TRUE(process_->started().ok()) << process_->started();
  }

  MemoryDisk disk_;
  std::optional<CoordinatorProcess> process_;
  std::string address_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, AJobIsSubmittedSeenAndCancelled) {
  const auto submitted = client_->Submit(SpecNamed("one"));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const auto job = client_->GetJob("one");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->id(), submitted->job().id());
  EXPECT_EQ(client_->ListJobs()->jobs_size(), 1);
  EXPECT_EQ(client_->Audit("one")->samples_total(), 1000u);
  EXPECT_EQ(client_->Cancel("one")->phase(), v1::JOB_PHASE_CANCELLED);
}

TEST_F(ClientTest, TwoSubmissionsAreTwoRequests) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  EXPECT_EQ(client_->Submit(SpecNamed("one")).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(ClientTest, AWatchGoesOnAcrossARestart) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  std::vector<v1::JobPhase> phases;
  const absl::Status watched =
      client_->Watch("one", kForEver, [&](const v1::JobView& view) {
        if (phases.empty()) {
          Restart();
          EXPECT_TRUE(Connect()->Cancel("one").ok());
        }
        phases.push_back(view.phase());
        return true;
      });
  EXPECT_TRUE(watched.ok()) << watched;
  EXPECT_THAT(phases,
              ElementsAre(v1::JOB_PHASE_PENDING, v1::JOB_PHASE_CANCELLED));
}

TEST_F(ClientTest, AWatchEndsWhenItsCallerHasSeenEnough) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  int views = 0;
  EXPECT_TRUE(client_
                  ->Watch("one", kForEver,
                          [&](const v1::JobView&) { return ++views < 1; })
                  .ok());
  EXPECT_EQ(views, 1);
}

TEST_F(ClientTest, AWatchHasALimit) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  const absl::Status watched = client_->Watch(
      "one", absl::Milliseconds(50), [](const v1::JobView&) { return true; });
  EXPECT_EQ(watched.code(), absl::StatusCode::kDeadlineExceeded) << watched;
}

TEST_F(ClientTest, AJobIsPausedAndResumed) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  EXPECT_EQ(client_->Pause("one")->phase(), v1::JOB_PHASE_PAUSED);
  EXPECT_EQ(client_->Pause("one")->phase(), v1::JOB_PHASE_PAUSED);
  Restart();
  EXPECT_EQ(client_->GetJob("one")->phase(), v1::JOB_PHASE_PAUSED);
  EXPECT_EQ(client_->Resume("one")->phase(), v1::JOB_PHASE_PENDING);
  ASSERT_TRUE(client_->Cancel("one").ok());
  EXPECT_EQ(client_->Pause("one").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ClientTest, AnUnknownWorkerHasNoIntent) {
  EXPECT_EQ(
      client_->SetIntent("nobody", v1::WORKER_INTENT_DRAIN).status().code(),
      absl::StatusCode::kNotFound);
  EXPECT_EQ(client_->SetIntent("nobody", v1::WORKER_INTENT_UNSPECIFIED)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientTest, APlanChangesNothing) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = SpecNamed("one");
  request.set_parameters(100'000);
  const auto plan = client_->Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->starts());
  EXPECT_EQ(plan->spec().training().tau(), 12u);
  EXPECT_EQ(client_->ListJobs()->jobs_size(), 0);
  request.mutable_spec()->mutable_training()->set_samples(0);
  EXPECT_EQ(client_->Plan(request).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientTest, EventsGoOnAcrossARestartWithoutAGapOrARepeat) {
  ASSERT_TRUE(client_->Submit(SpecNamed("one")).ok());
  std::vector<std::string> names;
  v1::StreamEventsRequest wanted;
  wanted.set_name("one");
  wanted.set_follow(true);
  const absl::Status followed =
      client_->StreamEvents(wanted, [&](const v1::Event& event) {
        if (names.empty()) {
          Restart();
          EXPECT_TRUE(Connect()->Cancel("one").ok());
        }
        names.push_back(event.name());
      });
  EXPECT_TRUE(followed.ok()) << followed;
  EXPECT_THAT(names, ElementsAre("JobSubmitted", "JobEnded"));
}

// What a coordinator that stops does to the calls it has open.
class StoppingService : public v1::Operator::Service {
  grpc::Status GetVersion(grpc::ServerContext*, const v1::GetVersionRequest*,
                          v1::GetVersionReply*) override {
    return grpc::Status::OK;
  }
  grpc::Status WatchJob(grpc::ServerContext*, const v1::GetJobRequest*,
                        grpc::ServerWriter<v1::JobView>* views) override {
    v1::JobView view;
    view.set_phase(calls_ > 0 ? v1::JOB_PHASE_SUCCEEDED
                              : v1::JOB_PHASE_RUNNING);
    views->Write(view);
    return calls_++ > 0 ? grpc::Status::OK : grpc::Status::CANCELLED;
  }
  int calls_ = 0;
};

TEST(ClientStopTest, AWatchThatAStoppingCoordinatorCutsGoesOn) {
  StoppingService service;
  int port = 0;
  grpc::ServerBuilder builder;
  transport::AddPlaintextPort("127.0.0.1:0", builder, &port);
  const auto server = builder.RegisterService(&service).BuildAndStart();
  const auto client = Client::Make("127.0.0.1:" + std::to_string(port),
                                   transport::Credentials::Plaintext());
  ASSERT_TRUE(client.ok()) << client.status();
  std::vector<v1::JobPhase> phases;
  const absl::Status watched =
      (*client)->Watch("one", kForEver, [&](const v1::JobView& view) {
        phases.push_back(view.phase());
        return true;
      });
  EXPECT_TRUE(watched.ok()) << watched;
  EXPECT_THAT(phases,
              ElementsAre(v1::JOB_PHASE_RUNNING, v1::JOB_PHASE_SUCCEEDED));
}

TEST_F(ClientTest, AnAddressThatNobodyServesIsNamed) {
  process_.reset();
  const absl::Status status = client_->ListJobs().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(address_));
}

TEST_F(ClientTest, PlaintextDoesNotLeaveTheMachine) {
  EXPECT_EQ(Client::Make("10.0.0.1:7443", transport::Credentials::Plaintext())
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace skerry::cli
