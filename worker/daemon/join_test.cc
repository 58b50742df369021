#include "worker/daemon/join.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/x509/authority.h"
#include "identity/x509/certificate_request.h"
#include "identity/x509/identity_folder.h"
#include "runtime/testing/memory_files.h"

namespace skerry::worker {
namespace {

using testing::HasSubstr;
using testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
constexpr char kToken[] = "abcdef.0123456789canary";

class JoinTest : public testing::Test {
 protected:
  JoinTest() {
    EXPECT_TRUE(files_.MakeDirectory("/state").ok());
    PutToken(kToken);
    options_ = {.coordinator = "10.0.0.1:7443",
                .ca_pin = "",
                .token_file = "/state/token",
                .name = "w1",
                .island = "west",
                .folder = "/state/credentials",
                .wall = [this] { return now_; },
                .wait =
                    [this](absl::Duration time) {
                      waits_.push_back(time);
                      if (on_wait_) on_wait_();
                      return waits_.size() < 50;
                    }};
  }

  void PutToken(const std::string& text) {
    EXPECT_TRUE(
        files_.WriteDurably("/state/token", std::as_bytes(std::span(text)))
            .ok());
  }

  // Answers with the next of `refusals_`, then with a certificate.
  AskToJoin Coordinator() {
    return
        [this](
            const v1::JoinRequest& request) -> absl::StatusOr<v1::JoinReply> {
          requests_.push_back(request);
          if (requests_.size() <= refusals_.size()) {
            return refusals_[requests_.size() - 1];
          }
          const identity::Name name{
              "lab", identity::WorkerName{request.island(), request.worker()}};
          v1::JoinReply reply;
          reply.set_authorities(authority_.certificate().Pem());
          reply.set_chain(
              authority_
                  .Issue(name,
                         *identity::KeyOfRequest(request.certificate_request()),
                         absl::Hours(24), now_)
                  ->Pem() +
              authority_.certificate().Pem());
          return reply;
        };
  }

  absl::Status Run() { return Join(options_, Coordinator(), files_); }

  absl::Time now_ = kNow;
  const identity::Authority authority_ =
      *identity::Authority::Make("lab", absl::Hours(24 * 3650), kNow);
  runtime::MemoryFiles files_;
  JoinOptions options_;
  std::vector<absl::Status> refusals_;
  std::vector<v1::JoinRequest> requests_;
  std::vector<absl::Duration> waits_;
  std::function<void()> on_wait_;
};

TEST_F(JoinTest, ATokenIsNeededOnce) {
  ASSERT_TRUE(Run().ok());
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].token(), kToken);
  const auto checked = identity::CheckIdentity(
      *identity::ReadIdentity(options_.folder, files_), now_);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(identity::FormatName(checked->name),
            "spiffe://lab/island/west/worker/w1");
  ASSERT_TRUE(files_.Remove("/state/token").ok());
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(JoinTest, ItAsksAgainWhileNobodyAnswers) {
  refusals_ = {absl::UnavailableError("Connection refused"),
               absl::DeadlineExceededError("slow"),
               absl::ResourceExhaustedError("too many attempts")};
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(requests_.size(), 4u);
  EXPECT_THAT(waits_, testing::ElementsAre(absl::Milliseconds(200),
                                           absl::Milliseconds(400),
                                           absl::Milliseconds(800)));
  // It is the same key each time, so that a use whose answer was lost counts
  // once.
  EXPECT_EQ(
      identity::KeyOfRequest(requests_[0].certificate_request())->Sha256(),
      identity::KeyOfRequest(requests_[3].certificate_request())->Sha256());
}

TEST_F(JoinTest, AfterARefusalItWaitsForAnotherToken) {
  refusals_ = {absl::PermissionDeniedError("is used up")};
  on_wait_ = [this] {
    if (waits_.size() == 3) PutToken("ghijkl.0123456789abcdef\n");
  };
  EXPECT_TRUE(Run().ok());
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(waits_.size(), 3u);
  EXPECT_EQ(requests_[1].token(), "ghijkl.0123456789abcdef");
}

TEST_F(JoinTest, ATokenMayComeLater) {
  ASSERT_TRUE(files_.Remove("/state/token").ok());
  on_wait_ = [this] {
    if (waits_.size() == 2) PutToken("nonsense");
    if (waits_.size() == 4) PutToken(kToken);
  };
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(JoinTest, SomeRefusalsAreForGood) {
  refusals_ = {absl::AlreadyExistsError("from 10.0.0.7")};
  EXPECT_TRUE(absl::IsAlreadyExists(Run()));
  requests_.clear();
  refusals_ = {absl::UnauthenticatedError("another cluster")};
  absl::Status refused = Run();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("10.0.0.1:7443 is not trusted: another cluster"));
  requests_.clear();
  refusals_ = {absl::UnimplementedError("")};
  refused = Run();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("canary")));
  EXPECT_TRUE(waits_.empty());
}

TEST_F(JoinTest, ItStopsWhenItIsTold) {
  refusals_ = std::vector<absl::Status>(99, absl::UnavailableError("away"));
  EXPECT_TRUE(absl::IsCancelled(Run()));
}

TEST_F(JoinTest, AnExpiredCertificateNeedsAToken) {
  ASSERT_TRUE(Run().ok());
  now_ += absl::Hours(25);
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(JoinTest, TheFolderOfAnotherWorkerIsRefused) {
  ASSERT_TRUE(Run().ok());
  options_.name = "w2";
  const absl::Status refused = Run();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("worker/w1, not of worker w2"));
}

}  // namespace
}  // namespace skerry::worker
