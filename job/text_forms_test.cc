#include "job/text_forms.h"

#include "gtest/gtest.h"

namespace skerry::job {
namespace {

TEST(TextFormsTest, ALabelHasLowerCaseLettersDigitsAndDashes) {
  EXPECT_TRUE(IsLabel("resnet-50", ""));
  EXPECT_TRUE(IsLabel(std::string(63, 'a'), ""));
  EXPECT_TRUE(IsLabel("a.b", "."));
  for (const std::string text :
       {"", "Resnet", "a.b", "a/b", "a b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsLabel(text, "")) << text;
  }
  EXPECT_FALSE(IsLabel(std::string(64, 'a'), ""));
}

TEST(TextFormsTest, ARefusedTextIsShownInOneShortLine) {
  EXPECT_EQ(Quoted("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(Quoted(std::string(81, 'x')),
            "\"" + std::string(80, 'x') + "\" and so on");
}

}  // namespace
}  // namespace skerry::job
