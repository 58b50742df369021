#include "coordinator/page/page_request.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using What = PageRequest::What;

TEST(PageRequestTest, PathsAreTheFourKindsAndNothingElse) {
  EXPECT_EQ(ParsePageRequest("/", "", "")->name, "index.html");
  EXPECT_EQ(ParsePageRequest("/page/chart.js", "", "")->name, "chart.js");
  EXPECT_EQ(ParsePageRequest("/page/view", "", "")->what, What::kView);
  EXPECT_EQ(ParsePageRequest("/page/changes", "", "")->what, What::kChanges);
  for (const char* path : {"", "/page", "/page/", "/page/../x", "/page/.js",
                           "/page/a/b", "/page/A.js", "/index.html",
                           "//page/view", "/page/view/", "/page/\n.js"}) {
    EXPECT_EQ(ParsePageRequest(path, "", "").status().code(),
              absl::StatusCode::kNotFound)
        << path;
  }
}

TEST(PageRequestTest, AStreamGoesOnWhereTheBrowserSaysOrElseTheQuery) {
  EXPECT_FALSE(ParsePageRequest("/page/changes", "", "")->after.has_value());
  EXPECT_EQ(ParsePageRequest("/page/changes", "after=3-17", "")->after,
            (PageMark{3, 17}));
  EXPECT_EQ(ParsePageRequest("/page/changes", "after=3-17", "4-1")->after,
            (PageMark{4, 1}));
}

TEST(PageRequestTest, WhatThePageDoesNotSendIsRefused) {
  for (const char* query :
       {"after", "after=", "after=3", "after=3-", "after=-3-1", "after=3-017",
        "after=3-1&after=3-2", "before=3-1", "after=3-18446744073709551616",
        "after=3-1 "}) {
    EXPECT_EQ(ParsePageRequest("/page/changes", query, "").status().code(),
              absl::StatusCode::kInvalidArgument)
        << query;
  }
  EXPECT_EQ(ParsePageRequest("/page/view", "after=3-1", "").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParsePageRequest("/page/changes", "", "x").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(PageRequestTest, AMarkIsReadAsItWasWritten) {
  const PageMark mark{18446744073709551615u, 0};
  EXPECT_EQ(FormatMark(mark), "18446744073709551615-0");
  EXPECT_EQ(*ParseMark(FormatMark(mark)), mark);
}

bool May(const char* address, const char* host, const char* site = "") {
  return CheckSender({address, host, site}).ok();
}

TEST(PageRequestTest, OnlyThisMachineMayAsk) {
  EXPECT_TRUE(May("127.0.0.1", "127.0.0.1:9443"));
  EXPECT_TRUE(May("::1", "[::1]:9443"));
  EXPECT_TRUE(May("::ffff:127.0.0.1", "localhost"));
  EXPECT_FALSE(May("10.0.0.7", "10.0.0.1:9443"));
  EXPECT_FALSE(May("::ffff:10.0.0.7", "localhost"));
  EXPECT_FALSE(May("", "localhost"));
}

TEST(PageRequestTest, NamesThatSomebodyCanOwnAreRefused) {
  for (const char* host :
       {"", "evil.example", "evil.example:9443", "localhost.evil.example",
        "127.0.0.1.evil.example", "[::1", "[::1]x", "localhost:", ":9443",
        "localhost:9443:1", "[evil]:1"}) {
    EXPECT_FALSE(May("127.0.0.1", host)) << host;
  }
}

TEST(PageRequestTest, PagesOfOtherSitesAreRefused) {
  EXPECT_TRUE(May("127.0.0.1", "localhost", "same-origin"));
  EXPECT_TRUE(May("127.0.0.1", "localhost", "none"));
  EXPECT_FALSE(May("127.0.0.1", "localhost", "cross-site"));
  EXPECT_FALSE(May("127.0.0.1", "localhost", "same-site"));
}

}  // namespace
}  // namespace skerry::coordinator
