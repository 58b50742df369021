#include "cli/yaml_syntax.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

// "LINE:COLUMN: WHAT" of a text that the parser refuses.
std::string ProblemOf(const std::string& text) {
  try {
    YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const YamlProblem problem = ExplainYaml(text, error.mark.line + 1,
                                            error.mark.column + 1, error.msg);
    return absl::StrCat(problem.line, ":", problem.column, ": ", problem.what);
  }
  return "it is YAML";
}

TEST(YamlSyntaxTest, MistakesAreNamedWhereTheyWereMade) {
  const std::pair<std::string, const char*> cases[] = {
      {"a: 1\nb:\n\tc: 2\n",
       "3:1: a tab indents this line; YAML takes spaces only"},
      {"a: 1\nb:\n \tc: 2\n  d: x: y\n",
       "3:2: a tab indents this line; YAML takes spaces only"},
      {std::string("a: x\0y: z\n", 10),
       "1:5: a byte of value 0, which no text has; is it a text file?"},
      {"a: \"C:\\stuff\"\n",
       "1:9: unknown escape character: s; in double quotes a backslash is "
       "written \\\\, in single quotes as it is"},
      {"a: b: c\n",
       "1:5: a value begins where none can; is this line indented as its "
       "neighbours are, and is a text with a colon in quotes?"},
      {"a: 1\n  b: 2\n",
       "2:4: a value begins where none can; is this line indented as its "
       "neighbours are, and is a text with a colon in quotes?"},
      {"a: {b: 1\n", "2:1: a { is not closed by a }"},
      {"a: [1, 2\n", "2:1: a [ is not closed by a ]"},
      {std::string(10'000, '['), "1:65: nested more than 64 levels deep"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(ProblemOf(text), expected) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace skerry::cli
