#include "trainer/attach/convert/lines.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/trainer.pb.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;

TEST(ParseRankLineTest, ReadsEveryKindOfLine) {
  const auto hello =
      std::get<Hello>(*ParseRankLine(R"({"hello":1,"package":"p 2"})"));
  EXPECT_EQ(hello.version, 1u);
  EXPECT_EQ(hello.package, "p 2");
  const auto answer = std::get<Answer>(
      *ParseRankLine(R"({"id":7,"body":{"loss":3.5},"more":[1]})"));
  EXPECT_EQ(answer.id, 7u);
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.body, R"({"loss":3.5})");
  const auto refused = std::get<Answer>(
      *ParseRankLine(R"({"id":8,"code":"ABORTED","error":"stopped"})"));
  EXPECT_EQ(refused.id, 8u);
  EXPECT_EQ(refused.status, absl::AbortedError("stopped"));
  EXPECT_EQ(
      std::get<StepNote>(*ParseRankLine(R"({"note":"step","steps":41})")).steps,
      41u);
  EXPECT_EQ(
      std::get<FailedNote>(*ParseRankLine(R"({"note":"failed","error":"x"})"))
          .error,
      "x");
  EXPECT_TRUE(std::holds_alternative<OtherNote>(
      *ParseRankLine(R"({"note":"weather","is":"fine"})")));
}

TEST(ParseRankLineTest, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "is not JSON"},
      {"[]", "is not a JSON object"},
      {"{}", "is no hello"},
      {R"({"id":1})", "has neither a body nor a code"},
      {R"({"id":"1","body":{}})", "has no whole number as its id"},
      {R"({"id":-1,"body":{}})", "has no whole number as its id"},
      {R"({"id":1,"body":[]})", "has neither a body nor a code"},
      {R"({"id":1,"code":"OK","error":""})", "has a code that is not gRPC's"},
      {R"({"id":1,"code":"INTERNAL"})", "has no text as its error"},
      {R"({"note":"step","steps":1.5})", "has no whole number as its steps"},
      {R"({"note":7})", "has no text as its note"},
      {R"({"hello":"1"})", "has no whole number as its hello"},
      {R"({"id":1,"id":1,"body":{}})", "has the key id twice"},
      {R"({"id":1,"body":{"loss":NaN}})", "is not JSON"}};
  for (const auto& [line, why] : cases) {
    const auto parsed = ParseRankLine(line);
    EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << line;
    EXPECT_THAT(parsed.status().message(), HasSubstr(why)) << line;
  }
}

TEST(ParseRankLineTest, DepthIsBounded) {
  const std::string deep(1000, '[');
  EXPECT_THAT(ParseRankLine(absl::StrCat(R"({"id":1,"body":{"a":)", deep))
                  .status()
                  .message(),
              HasSubstr("nests deeper"));
}

TEST(CallLineTest, BodiesAreTheSeamsMessagesAsJson) {
  v1::RunRequest request;
  request.add_ranges()->set_end(96);
  request.set_replica_batch_samples(8);
  EXPECT_EQ(*CallLine(Call::kRun, 7, request),
            R"({"call":"Run","id":7,"body":{"ranges":[{"end":"96"}],)"
            R"("replicaBatchSamples":"8"}})"
            "\n");
  v1::GenerateRequest large;
  large.set_prompt(std::string(33 << 20, 'a'));
  EXPECT_TRUE(
      absl::IsInvalidArgument(CallLine(Call::kGenerate, 8, large).status()));
}

TEST(ParseBodyTest, IgnoresWhatItDoesNotKnowAndRefusesWhatIsNot) {
  v1::RunReply reply;
  ASSERT_TRUE(
      ParseBody(R"({"samples":"96","loss":"NaN","new":{"a":[1]}})", reply)
          .ok());
  EXPECT_EQ(reply.samples(), 96u);
  EXPECT_TRUE(ParseBody("", reply).ok());
  EXPECT_FALSE(ParseBody(R"({"samples":-1})", reply).ok());
  EXPECT_FALSE(ParseBody(R"({"samples":[]})", reply).ok());
}

}  // namespace
}  // namespace skerry::trainer::attach
