#include "transport/grpc/credentials.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"
#include "transport/grpc/identity_metrics.h"
#include "transport/grpc/testing/test_identity.h"

namespace skerry::transport {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kHealth[] = "/grpc.health.v1.Health/Check";
constexpr char kListJobs[] = "/skerry.v1.Operator/ListJobs";

// Serves health alone, so what the guard lets through ends as Unimplemented.
class TestServer {
 public:
  explicit TestServer(std::shared_ptr<Credentials> credentials)
      : credentials_(std::move(credentials)) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    credentials_->AddPort("127.0.0.1:0", builder, &port_);
    builder.RegisterCallbackGenericService(&nothing_);
    server_ = builder.BuildAndStart();
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  Credentials& credentials() { return *credentials_; }

  grpc::Status Call(const Credentials& as, const std::string& method,
                    ServerKind kind = ServerKind::kCoordinator) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = as.ChannelTo(address(), kind, arguments);
    grpc::ClientContext context;
    context.set_deadline(gpr_time_from_seconds(10, GPR_TIMESPAN));
    // An empty message, which a buffer without slices is not.
    const grpc::Slice empty;
    const grpc::ByteBuffer request(&empty, 1);
    grpc::ByteBuffer reply;
    grpc::Status status;
    grpc::CompletionQueue queue;
    grpc::GenericStub stub(channel);
    const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    return status;
  }

 private:
  const std::shared_ptr<Credentials> credentials_;
  int port_ = 0;
  grpc::CallbackGenericService nothing_;
  std::unique_ptr<grpc::Server> server_;
};

class CredentialsTest : public testing::Test {
 protected:
  TestCluster lab_{"lab"};
  runtime::MemoryFiles files_;
};

TEST_F(CredentialsTest, EachRoleCallsWhatIsForIt) {
  const TestServer server(lab_.Make(lab_.Coordinator(), files_));
  const auto worker = lab_.Make(lab_.Worker("w1"), files_);
  const auto viewer = lab_.Make(lab_.Operator(Role::kViewer), files_);
  EXPECT_EQ(server.Call(*worker, kHealth).error_code(), grpc::StatusCode::OK);
  EXPECT_EQ(server.Call(*viewer, kListJobs).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  const grpc::Status refused = server.Call(*worker, kListJobs);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused.error_message(),
            "/skerry.v1.Operator/ListJobs is for viewer, operator, admin, and "
            "not for worker");
}

TEST_F(CredentialsTest, AClientLeavesAServerThatItDoesNotMean) {
  const TestServer coordinator(lab_.Make(lab_.Coordinator(), files_));
  const TestServer w1(lab_.Make(lab_.Worker("w1"), files_));
  const auto w2 = lab_.Make(lab_.Worker("w2"), files_);
  EXPECT_THAT(
      coordinator.Call(*w2, kHealth, ServerKind::kWorker).error_message(),
      HasSubstr("coordinator\" and not of a worker of cluster lab"));
  EXPECT_THAT(w1.Call(*w2, kHealth).error_message(),
              HasSubstr("worker/w1\" and not of the coordinator"));
  EXPECT_TRUE(w1.Call(*w2, kHealth, ServerKind::kWorker).ok());
  w2->peers().Set(w1.address(), "w3");
  EXPECT_THAT(w1.Call(*w2, kHealth, ServerKind::kWorker).error_message(),
              HasSubstr("worker/w1\" and not of worker w3"));
}

TEST_F(CredentialsTest, AnotherClusterAndPlaintextGetNowhere) {
  const TestServer server(lab_.Make(lab_.Coordinator(), files_));
  const TestCluster other("lab");
  runtime::MemoryFiles files;
  const auto stranger = other.Make(other.Worker("w1"), files);
  EXPECT_EQ(server.Call(*stranger, kHealth).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(server.Call(*Credentials::Plaintext(), kHealth).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(CredentialsTest, ARevokedCallerIsRefusedAtItsNextCall) {
  TestServer server(lab_.Make(lab_.Coordinator(), files_));
  const auto w1 = lab_.Make(lab_.Worker("w1"), files_);
  const auto w2 = lab_.Make(lab_.Worker("w2"), files_);
  server.credentials().revocations()->Set(
      {identity::FormatName(lab_.Worker("w1")), w2->certificate().serial()});
  for (const auto& revoked : {w1, w2}) {
    const grpc::Status status = server.Call(*revoked, kHealth);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_THAT(status.error_message(), HasSubstr("is revoked"));
  }
  server.credentials().revocations()->Set({});
  EXPECT_TRUE(server.Call(*w1, kHealth).ok());
}

TEST_F(CredentialsTest, RefusedCallsAreCountedByReason) {
  TestServer server(lab_.Make(lab_.Coordinator(), files_));
  const auto viewer = lab_.Make(lab_.Operator(Role::kViewer), files_);
  const auto worker = lab_.Make(lab_.Worker("w1"), files_);
  EXPECT_TRUE(server.Call(*worker, kHealth).ok());
  EXPECT_FALSE(server.Call(*worker, kListJobs).ok());
  EXPECT_FALSE(server.Call(*worker, kListJobs).ok());
  server.credentials().revocations()->Set(
      {identity::FormatName(lab_.Operator(Role::kViewer))});
  EXPECT_FALSE(server.Call(*viewer, kListJobs).ok());
  std::vector<runtime::Metric> metrics;
  AddIdentityMetrics(server.credentials(), metrics);
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[2].name, "skerry_refused_calls_total");
  std::map<std::string, double> counts;
  for (const runtime::Sample& sample : metrics[2].samples) {
    counts[sample.labels.front().second] = sample.value;
  }
  EXPECT_EQ(counts, (std::map<std::string, double>{{"no_certificate", 0},
                                                   {"not_believed", 1},
                                                   {"not_allowed", 2}}));
  EXPECT_EQ(metrics[3].name, "skerry_failed_handshakes_total");
}

TEST_F(CredentialsTest, ChangedFilesAreUsedWhenTheyAreGoodAndElseReported) {
  const identity::Name name = lab_.Worker("w1");
  const identity::Identity first = lab_.Issue(name);
  const auto credentials =
      Credentials::FromFiles(WriteFiles(first, "/id", files_), files_, TestNow);
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  const std::string serial = (*credentials)->certificate().serial();
  identity::Identity broken = lab_.Issue(name);
  broken.key = first.key;
  WriteFiles(broken, "/id", files_);
  (*credentials)->Refresh();
  // Somebody may be half way through replacing them.
  EXPECT_THAT((*credentials)->trouble(), IsEmpty());
  (*credentials)->Refresh();
  EXPECT_THAT((*credentials)->trouble(), HasSubstr("key.pem"));
  std::vector<runtime::Metric> metrics;
  AddIdentityMetrics(**credentials, metrics);
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[1].name, "skerry_identity_not_renewed");
  EXPECT_EQ(metrics[1].samples.front().value, 1);
  EXPECT_EQ((*credentials)->certificate().serial(), serial);
  const identity::Identity second = lab_.Issue(name);
  WriteFiles(second, "/id", files_);
  (*credentials)->Refresh();
  EXPECT_THAT((*credentials)->trouble(), IsEmpty());
  EXPECT_NE((*credentials)->certificate().serial(), serial);
  WriteFiles(lab_.Issue(lab_.Worker("w2")), "/id", files_);
  (*credentials)->Refresh();
  EXPECT_THAT((*credentials)->trouble(), HasSubstr("worker/w2 and not of"));
  EXPECT_EQ((*credentials)->self(), name);
}

TEST_F(CredentialsTest, TheListOfRevokedCertificatesIsReadAgain) {
  CredentialFiles paths =
      WriteFiles(lab_.Issue(lab_.Coordinator()), "/id", files_);
  paths.revoked = "/id/revoked.txt";
  const auto credentials = Credentials::FromFiles(paths, files_, TestNow);
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  const auto write = [&](const std::string& text) {
    EXPECT_TRUE(
        files_.WriteDurably(paths.revoked, std::as_bytes(std::span(text)))
            .ok());
    (*credentials)->Refresh();
  };
  EXPECT_FALSE((*credentials)->revocations()->Contain("", "AB"));
  write("AB\n");
  EXPECT_TRUE((*credentials)->revocations()->Contain("", "AB"));
  write("what?\n");
  EXPECT_THAT((*credentials)->trouble(), HasSubstr("/id/revoked.txt: line 1"));
  EXPECT_TRUE((*credentials)->revocations()->Contain("", "AB"));
  write("");
  EXPECT_THAT((*credentials)->trouble(), IsEmpty());
  EXPECT_FALSE((*credentials)->revocations()->Contain("", "AB"));
}

TEST_F(CredentialsTest, FilesThatDoNotFitAreRefusedWithTheirPath) {
  identity::Identity mixed = lab_.Issue(lab_.Worker("w1"));
  mixed.key = lab_.Issue(lab_.Worker("w1")).key;
  const CredentialFiles paths = WriteFiles(mixed, "/mixed", files_);
  EXPECT_THAT(
      Credentials::FromFiles(paths, files_, TestNow).status().ToString(),
      HasSubstr("/mixed/cert.pem"));
  EXPECT_THAT(Credentials::FromFiles({"/no", "/no", "/no"}, files_, TestNow)
                  .status()
                  .ToString(),
              HasSubstr("/no"));
}

TEST_F(CredentialsTest, PlaintextStaysOnThisMachine) {
  EXPECT_TRUE(Credentials::Plaintext()->CheckReach("127.0.0.1:1").ok());
  EXPECT_FALSE(Credentials::Plaintext()->CheckReach("10.0.0.1:1").ok());
  const auto tls = lab_.Make(lab_.Worker("w1"), files_);
  for (const char* address :
       {"10.0.0.1:1", "0.0.0.0:1", "[::]:0", "train.example.org:7443"}) {
    EXPECT_TRUE(tls->CheckReach(address).ok()) << address;
  }
  EXPECT_FALSE(tls->CheckReach("10.0.0.1").ok());
}

}  // namespace
}  // namespace skerry::transport
