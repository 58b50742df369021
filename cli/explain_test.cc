#include "cli/explain.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

std::string Explained(const std::string& path,
                      OutputForm form = OutputForm::kTable) {
  std::ostringstream out, err;
  const absl::Status status = ExplainField(path, Output{form, out, err});
  return status.ok() ? out.str() : std::string(status.message());
}

TEST(ExplainTest, AFieldHasItsTypeAndTheWordsOfTheSchema) {
  EXPECT_EQ(Explained("training.tau"),
            "Field:  training.tau\n"
            "Type:   whole number\n"
            "\n"
            "Inner steps a round. Default 12.\n");
  EXPECT_THAT(Explained("outer.method"),
              HasSubstr("one of local_sgd, diloco, co2, "
                        "average_plus_local_delta, late, dasgd"));
  EXPECT_THAT(Explained("training.optimizer"),
              HasSubstr("one of adamw, lamb, sgd, muon"));
  EXPECT_THAT(Explained("placement.islands"), HasSubstr("list of text"));
}

TEST(ExplainTest, AGroupListsItsFields) {
  const std::string training = Explained("training");
  EXPECT_THAT(training, HasSubstr("\nFIELD "));
  EXPECT_THAT(training, HasSubstr("\ntau "));
  EXPECT_THAT(Explained(""), HasSubstr("\nplacement "));
  EXPECT_THAT(Explained("model"), HasSubstr("\nconfig_file "));
  EXPECT_THAT(Explained("model.config_file"), HasSubstr("becomes config_json"));
  EXPECT_THAT(Explained("model.program"), HasSubstr("\nparameters "));
  EXPECT_THAT(Explained("model.program.parameters"),
              HasSubstr("becomes parameters_json"));
}

// A comment stands above the first of several fields.
TEST(ExplainTest, AFieldWithoutWordsOfItsOwnHasThoseBeforeIt) {
  EXPECT_THAT(Explained("training.beta2"),
              HasSubstr("See learning_rate: The optimizer's peak"));
}

TEST(ExplainTest, AWrongPathNamesTheNearest) {
  EXPECT_EQ(Explained("training.taus"),
            "training has no field taus; did you mean tau?");
  EXPECT_EQ(Explained("trainning"),
            "a job file has no field trainning; did you mean training?");
  EXPECT_EQ(Explained("name.x"), "name has no field x");
}

TEST(ExplainTest, JsonHasTheFields) {
  EXPECT_THAT(Explained("exchange", OutputForm::kJson),
              StartsWith("{\n \"field\": \"exchange\""));
}

TEST(ExplainTest, EveryPathIsExplained) {
  const std::vector<std::string> paths = AllFieldPaths();
  EXPECT_GT(paths.size(), 40u);
  EXPECT_THAT(paths, Contains("exchange.quorum"));
  for (const std::string& path : paths) {
    const auto help = FindFieldHelp(path);
    ASSERT_TRUE(help.ok()) << help.status();
    EXPECT_EQ(help->path, path);
    EXPECT_TRUE(help->type == "fields" || !help->about.empty()) << path;
  }
}

}  // namespace
}  // namespace skerry::cli
