#include "transport/grpc/guard.h"

#include <google/protobuf/descriptor.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/join.pb.h"
#include "proto/skerry/v1/operator.pb.h"
#include "proto/skerry/v1/peer.pb.h"
#include "proto/skerry/v1/piece.pb.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/policy.h"

namespace skerry::transport {
namespace {

using testing::HasSubstr;

constexpr char kCluster[] = "lab";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::map<std::string, Caller> Callers() {
  return {
      {"nobody", {}},
      {"coordinator",
       {identity::Name{kCluster, identity::CoordinatorName()}, "C0",
        absl::InfiniteFuture()}},
      {"worker",
       {identity::Name{kCluster, identity::WorkerName{"west", "w1"}}, "A1",
        absl::InfiniteFuture()}},
      {"viewer",
       {identity::Name{kCluster,
                       identity::OperatorName{identity::Role::kViewer, "v"}},
        "B1", absl::InfiniteFuture()}},
      {"operator",
       {identity::Name{kCluster,
                       identity::OperatorName{identity::Role::kOperator, "o"}},
        "B2", absl::InfiniteFuture()}},
      {"admin",
       {identity::Name{kCluster,
                       identity::OperatorName{identity::Role::kAdmin, "a"}},
        "B3", absl::InfiniteFuture()}},
  };
}

// Method -> who may call it, as docs/security.md says it.
std::map<std::string, std::set<std::string>> WrittenMatrix() {
  std::map<std::string, std::set<std::string>> matrix;
  std::ifstream page("docs/security.md");
  std::string line;
  while (std::getline(page, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() < 4 || cells[1].find("`/") != 1) continue;
    const std::string method(
        absl::StripSuffix(absl::StripPrefix(cells[1], " `"), "` "));
    for (const absl::string_view word : absl::StrSplit(cells[2], ',')) {
      matrix[method].insert(std::string(absl::StripAsciiWhitespace(word)));
    }
  }
  return matrix;
}

absl::Status Check(const Caller& caller, std::string_view method,
                   std::set<std::string, std::less<>> revoked = {}) {
  Revocations revocations;
  revocations.Set(std::move(revoked));
  return CheckCaller(caller, method, kCluster, revocations, kNow);
}

TEST(GuardTest, EveryMethodLetsInWhomThePageNamesAndNobodyElse) {
  const auto matrix = WrittenMatrix();
  EXPECT_EQ(matrix.size(), Policies().size());
  for (const MethodPolicy& policy : Policies()) {
    const std::string method(policy.method);
    ASSERT_TRUE(matrix.contains(method)) << method;
    for (const auto& [kind, caller] : Callers()) {
      EXPECT_EQ(Check(caller, method).ok(), matrix.at(method).contains(kind))
          << method << " called by " << kind;
    }
  }
}

TEST(GuardTest, NoServiceHasAMethodThatIsNotInTheTable) {
  std::set<std::string> known;
  for (const MethodPolicy& policy : Policies()) {
    known.emplace(policy.method);
  }
  std::set<std::string> served = {kFramesMethod,
                                  kFetchMethod,
                                  kReverseFramesMethod,
                                  kReverseFetchMethod,
                                  kRelayFramesMethod,
                                  kRelayFetchMethod,
                                  kRelayReverseFramesMethod,
                                  kRelayReverseFetchMethod};
  for (const google::protobuf::FileDescriptor* file :
       {v1::Status::descriptor()->file(), v1::JobView::descriptor()->file(),
        v1::JoinRequest::descriptor()->file(),
        v1::AgreeCutRequest::descriptor()->file(),
        v1::FetchPieceRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        served.insert(absl::StrCat("/", file->service(i)->full_name(), "/",
                                   file->service(i)->method(j)->name()));
      }
    }
  }
  EXPECT_GT(served.size(), 15u);
  for (const std::string& method : served) {
    EXPECT_TRUE(known.contains(method)) << method;
  }
  for (const std::string& method : known) {
    EXPECT_TRUE(served.contains(method) || method.starts_with("/grpc."))
        << method << " is served by nobody";
  }
}

TEST(GuardTest, AMethodThatNobodyKnowsIsForNobody) {
  for (const auto& [kind, caller] : Callers()) {
    EXPECT_TRUE(absl::IsPermissionDenied(Check(caller, "/a.B/C"))) << kind;
  }
}

TEST(GuardTest, ACertificateThatIsNotBelievedOpensNothing) {
  for (const MethodPolicy& policy : Policies()) {
    for (const auto& [kind, caller] : Callers()) {
      if (!caller.name.has_value()) continue;
      Caller foreign = caller;
      foreign.name->cluster = "other";
      Caller late = caller;
      late.not_after = kNow - absl::Seconds(1);
      const std::string name = identity::FormatName(*caller.name);
      EXPECT_THAT(Check(foreign, policy.method).ToString(),
                  HasSubstr("this is cluster lab"));
      EXPECT_THAT(Check(late, policy.method).ToString(), HasSubstr("expired"));
      EXPECT_THAT(Check(caller, policy.method, {name}).ToString(),
                  HasSubstr("is revoked"));
      EXPECT_THAT(Check(caller, policy.method, {caller.serial}).ToString(),
                  HasSubstr("is revoked"));
      EXPECT_EQ(Check(caller, policy.method, {"0"}).ok(),
                Check(caller, policy.method).ok());
    }
  }
}

}  // namespace
}  // namespace skerry::transport
