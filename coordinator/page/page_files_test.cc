#include "coordinator/page/page_files.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What stands between `before` and the next `after`, at each place.
std::set<std::string> Named(std::string_view text, std::string_view before,
                            char after) {
  std::set<std::string> names;
  for (size_t at = text.find(before); at != std::string_view::npos;
       at = text.find(before, at)) {
    at += before.size();
    names.insert(std::string(text.substr(at, text.find(after, at) - at)));
  }
  return names;
}

TEST(PageFilesTest, WhatTheDocumentNamesIsThere) {
  const auto index = FindPageFile("index.html");
  ASSERT_TRUE(index.has_value());
  EXPECT_THAT(std::string(index->content), StartsWith("<!doctype html>"));
  const auto names = Named(index->content, "=\"/page/", '"');
  EXPECT_GE(names.size(), 3u);
  for (const std::string& name : names) {
    EXPECT_TRUE(FindPageFile(name).has_value()) << name;
  }
  EXPECT_FALSE(FindPageFile("other.js").has_value());
}

TEST(PageFilesTest, ModulesImportWhatIsThereAndWholeFilesAreServed) {
  std::set<std::string> open = {"main.js"}, seen;
  while (!open.empty()) {
    const std::string name = *open.begin();
    open.erase(open.begin());
    if (!seen.insert(name).second) continue;
    const auto file = FindPageFile(name);
    ASSERT_TRUE(file.has_value()) << name;
    EXPECT_EQ(file->type, "text/javascript; charset=utf-8");
    EXPECT_EQ(file->content.back(), '\n') << name;
    open.merge(Named(file->content, "from './", '\''));
  }
  EXPECT_GE(seen.size(), 5u);
}

TEST(PageFilesTest, NothingNamesAnotherHostOrStandsInline) {
  for (const char* name : {"index.html", "style.css", "main.js", "model.js",
                           "words.js", "element.js", "chart.js", "overview.js",
                           "job.js", "workers.js", "links.js", "events.js"}) {
    std::string text(FindPageFile(name)->content);
    // The name of a language is no address.
    const std::string svg = "http://www.w3.org/2000/svg";
    if (const size_t at = text.find(svg); at != std::string::npos) {
      text.erase(at, svg.size());
    }
    EXPECT_THAT(text, Not(HasSubstr("://"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("innerHTML"))) << name;
    EXPECT_THAT(text, Not(HasSubstr(" style=\""))) << name;
    EXPECT_THAT(text, Not(HasSubstr("<style"))) << name;
  }
}

}  // namespace
}  // namespace skerry::coordinator
