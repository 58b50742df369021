#include "runtime/posix/piped_child.h"

#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<PipedChild> Shell(const std::string& script) {
  auto child = PipedChild::Start({"sh", "-c", script});
  EXPECT_TRUE(child.ok()) << child.status();
  return *std::move(child);
}

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

TEST(PipedChildTest, AnswersAreThoseOfTheProgram) {
  const auto child = Shell("read a; echo heard $a; read b; echo and $b");
  std::string answer;
  ASSERT_TRUE(child->Send("one\n").ok());
  ASSERT_TRUE(child->Receive(10, answer).ok());
  EXPECT_EQ(answer, "heard one\n");
  ASSERT_TRUE(child->Send("two\n").ok());
  ASSERT_TRUE(child->Receive(8, answer).ok());
  EXPECT_EQ(answer, "and two\n");
  ASSERT_TRUE(child->Receive(0, answer).ok());
  EXPECT_EQ(answer, "");
}

// More than any socket holds, both ways.
TEST(PipedChildTest, LargeQuestionsAndAnswersPass) {
  const auto child =
      Shell("head -c 8000000 >/dev/null; head -c 9000000 /dev/zero; exec cat");
  ASSERT_TRUE(child->Send(std::string(8'000'000, 'x')).ok());
  std::string answer;
  ASSERT_TRUE(child->Receive(9'000'000, answer).ok());
  EXPECT_EQ(answer, std::string(9'000'000, '\0'));
}

TEST(PipedChildTest, AnEndIsOneLineWithStatusAndReason) {
  const auto child =
      Shell("echo first >&2; echo the disk is gone >&2; echo >&2; exit 3");
  std::string answer;
  const absl::Status ended = child->Receive(1, answer);
  EXPECT_TRUE(absl::IsInternal(ended));
  EXPECT_EQ(Text(ended), "sh ended with status 3: the disk is gone");
  EXPECT_EQ(child->Send("x"), ended);
  EXPECT_EQ(child->Receive(1, answer), ended);
}

TEST(PipedChildTest, AnEndInsideAnAnswerIsNoticed) {
  const auto child = Shell("printf abc");
  std::string answer;
  EXPECT_EQ(Text(child->Receive(4, answer)), "sh ended with status 0");
}

TEST(PipedChildTest, AKilledChildIsReportedWithItsSignal) {
  const auto child = Shell("exec cat");
  ASSERT_EQ(kill(child->pid(), SIGKILL), 0);
  std::string answer;
  EXPECT_EQ(Text(child->Receive(1, answer)),
            "sh was killed by signal 9 (Killed)");
}

// Neither a signal in this process nor a wait for a reader that is gone.
TEST(PipedChildTest, AChildThatDiesWhileItIsAskedIsReported) {
  const auto child = Shell("head -c 1000 >/dev/null; exit 5");
  EXPECT_EQ(Text(child->Send(std::string(64'000'000, 'x'))),
            "sh ended with status 5");
}

TEST(PipedChildTest, WhoAnswersTooEarlyIsNotWaitedFor) {
  const auto child = Shell("exec cat");
  EXPECT_THAT(Text(child->Send(std::string(64'000'000, 'x'))),
              AllOf(HasSubstr("answers before"), Not(HasSubstr("\n"))));
}

TEST(PipedChildTest, AChildThatHearsNobodyAnyMoreIsKilled) {
  const auto child = Shell("exec >/dev/null </dev/null; exec sleep 1000");
  std::string answer;
  EXPECT_EQ(Text(child->Receive(1, answer)),
            "sh was killed by signal 9 (Killed)");
}

TEST(PipedChildTest, MuchThatIsWrittenToStandardErrorStopsNobody) {
  const auto child = Shell(
      "head -c 1000000 /dev/zero | tr '\\0' e >&2 2>/dev/null; echo ok; "
      "exec cat");
  std::string answer;
  ASSERT_TRUE(child->Receive(3, answer).ok());
  EXPECT_EQ(answer, "ok\n");
}

TEST(PipedChildTest, AProgramThatIsNotThereIsNamed) {
  const auto missing = PipedChild::Start({"/no/such/program"});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(Text(missing.status()), HasSubstr("/no/such/program"));
  EXPECT_TRUE(absl::IsPermissionDenied(PipedChild::Start({"/etc"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PipedChild::Start({}).status()));
}

}  // namespace
}  // namespace skerry::runtime
