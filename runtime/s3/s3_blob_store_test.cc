#include "runtime/s3/s3_blob_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/s3/testing/fake_object_store.h"
#include "runtime/testing/blob_store_kit.h"

namespace skerry::runtime::s3 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kSecret[] = "a-secret-that-nothing-prints";

class S3BlobStoreTest : public testing::Test {
 protected:
  S3BlobStore StoreAt(const std::string& prefix,
                      const std::string& bucket = "models") {
    Settings settings{{"key", kSecret, ""}, "north", "http://store:9000", ""};
    HttpPorts ports{
        .fetch = [this](const HttpRequest& r) { return server_.Fetch(r); },
        .now = [] { return absl::UnixEpoch(); },
        .pause = [this](absl::Duration time) { slept_ += time; },
        .variable = nullptr,
        .seed = 7};
    return S3BlobStore(Client(std::move(settings), bucket, std::move(ports)),
                       prefix, {.part_bytes = 10});
  }

  // The requests with these numbers, counted from now on, fail.
  void FailFrom(size_t first, size_t count, absl::Status error, bool before) {
    const size_t base = server_.requests;
    server_.fault =
        [=, this](size_t number,
                  absl::StatusOr<HttpReply> done) -> absl::StatusOr<HttpReply> {
      if (number < base + first || number >= base + first + count) return done;
      failed_ += before ? 0 : 1;
      return error;
    };
  }

  FakeObjectStore server_{"models"};
  absl::Duration slept_;
  int failed_ = 0;
};

HttpReply Busy() {
  HttpReply reply;
  reply.code = 503;
  reply.body = "<Error><Code>SlowDown</Code><Message>later</Message></Error>";
  return reply;
}

TEST_F(S3BlobStoreTest, KeepsWhatEveryBlobStoreKeeps) {
  for (const std::string prefix : {"", "runs/a=1"}) {
    server_.objects.clear();
    S3BlobStore store = StoreAt(prefix);
    ExpectPutsAndGets(store);
    ExpectReadsInPieces(store);
    server_.objects.clear();
    ExpectListsFoldersWholeAndSorted(store);
    ExpectRefusesMalformedKeys(store);
  }
}

TEST_F(S3BlobStoreTest, OthersInTheBucketAreNotSeen) {
  server_.objects = {{"runs2/a", "x"},  {"runs", "x"},   {"runs/.hid", "x"},
                     {"runs/a b", "x"}, {"runs/a", "x"}, {"other", "x"}};
  EXPECT_THAT(*StoreAt("runs").List(""), ElementsAre("a"));
}

TEST_F(S3BlobStoreTest, LongBlobsTravelInParts) {
  S3BlobStore store = StoreAt("runs");
  for (const size_t size : {0u, 1u, 9u, 10u, 11u, 20u, 25u, 101u}) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 23);
    ASSERT_TRUE(store.Put("long", BytesOf(text)).ok()) << size;
    EXPECT_EQ(server_.objects["runs/long"], text);
    EXPECT_EQ(*store.Get("long"), BytesOf(text));
    EXPECT_THAT(server_.uploads, IsEmpty());
  }
}

// The answers to 2 requests in 10 are lost, after the request had its effect.
TEST_F(S3BlobStoreTest, PassingFaultsAreNotSeen) {
  Random random(11);
  server_.fault =
      [&](size_t, absl::StatusOr<HttpReply> done) -> absl::StatusOr<HttpReply> {
    const uint64_t draw = random.Below(10);
    if (draw == 0) return absl::UnavailableError("connection reset");
    if (draw == 1) return Busy();
    return done;
  };
  S3BlobStore store = StoreAt("runs");
  for (int i = 0; i < 100; ++i) {
    const std::string key = absl::StrCat("blob-", i);
    const std::string text(static_cast<size_t>(i), 'x');
    ASSERT_TRUE(store.Put(key, BytesOf(text)).ok()) << key;
    ASSERT_EQ(*store.Get(key), BytesOf(text));
  }
  EXPECT_EQ(store.List("")->size(), 100u);
  EXPECT_GT(slept_, absl::ZeroDuration());
  ASSERT_TRUE(store.RemoveLeftovers().ok());
  EXPECT_THAT(server_.uploads, IsEmpty());
}

TEST_F(S3BlobStoreTest, AStoreThatStaysAwayIsGivenUp) {
  FailFrom(0, 1000, absl::UnavailableError("no route"), true);
  const absl::Status put = StoreAt("runs").Put("a", BytesOf("x"));
  EXPECT_TRUE(absl::IsUnavailable(put));
  EXPECT_THAT(std::string(put.message()),
              HasSubstr("http://store:9000, bucket models: no route"));
  EXPECT_EQ(server_.requests, static_cast<size_t>(Client::kTries));
}

// Request 0 begins the upload, 1 to 3 send parts.
TEST_F(S3BlobStoreTest, AnUploadThatFailsIsRemoved) {
  FailFrom(2, Client::kTries, absl::UnavailableError("reset"), true);
  S3BlobStore store = StoreAt("runs");
  EXPECT_FALSE(store.Put("long", BytesOf(std::string(25, 'x'))).ok());
  EXPECT_THAT(server_.uploads, IsEmpty());
  EXPECT_THAT(server_.objects, IsEmpty());
}

TEST_F(S3BlobStoreTest, ALostAnswerToTheLastRequestIsNoFailure) {
  FailFrom(4, 1, absl::UnavailableError("reset"), false);
  S3BlobStore store = StoreAt("runs");
  EXPECT_TRUE(store.Put("long", BytesOf(std::string(25, 'x'))).ok());
  EXPECT_EQ(failed_, 1);
  EXPECT_EQ(server_.objects["runs/long"].size(), 25u);
}

TEST_F(S3BlobStoreTest, AnErrorBehindAGoodCodeIsOne) {
  const size_t complete = 4;
  server_.fault =
      [&](size_t number,
          absl::StatusOr<HttpReply> done) -> absl::StatusOr<HttpReply> {
    if (number != complete) return done;
    HttpReply reply = Busy();
    reply.code = 200;
    return reply;
  };
  EXPECT_FALSE(StoreAt("runs").Put("long", BytesOf(std::string(25, 'x'))).ok());
}

TEST_F(S3BlobStoreTest, LeftoversOfThisPrefixAreRemoved) {
  server_.uploads = {{"1", {"runs/a", {}}},
                     {"2", {"runs/b/c", {}}},
                     {"3", {"runs/d", {}}},
                     {"4", {"others/a", {}}},
                     {"5", {"runs/a b", {}}}};
  ASSERT_TRUE(StoreAt("runs").RemoveLeftovers().ok());
  EXPECT_EQ(server_.uploads.size(), 2u);
  EXPECT_TRUE(server_.uploads.contains("4"));
  EXPECT_TRUE(server_.uploads.contains("5"));
}

// Another writer replaces the blob between two parts.
TEST_F(S3BlobStoreTest, ABlobIsNeverReadHalfOldAndHalfNew) {
  S3BlobStore store = StoreAt("runs");
  ASSERT_TRUE(store.Put("long", BytesOf(std::string(25, 'x'))).ok());
  const size_t base = server_.requests;
  server_.fault = [&](size_t number, absl::StatusOr<HttpReply> done) {
    if (number == base + 1) server_.objects["runs/long"] = std::string(25, 'y');
    return done;
  };
  const auto read = store.Get("long");
  EXPECT_TRUE(absl::IsAborted(read.status())) << read.status();
}

TEST_F(S3BlobStoreTest, RefusalsSayWhatToDoAndNoSecret) {
  struct Case {
    int code;
    std::string name;
    absl::StatusCode status;
    std::string words;
  };
  for (const Case& one :
       {Case{403, "SignatureDoesNotMatch", absl::StatusCode::kPermissionDenied,
             "bucket models"},
        Case{403, "RequestTimeTooSkewed", absl::StatusCode::kFailedPrecondition,
             "set this machine's clock"},
        Case{301, "PermanentRedirect", absl::StatusCode::kFailedPrecondition,
             "check region (now north)"},
        Case{404, "NoSuchBucket", absl::StatusCode::kFailedPrecondition,
             "make the bucket"}}) {
    server_.fault = [&](size_t, absl::StatusOr<HttpReply> done) {
      done->code = one.code;
      done->body = absl::StrCat("<Error><Code>", one.name, "</Code></Error>");
      return done;
    };
    const absl::Status put = StoreAt("runs").Put("a", BytesOf("x"));
    EXPECT_EQ(put.code(), one.status) << put;
    EXPECT_THAT(std::string(put.message()), HasSubstr(one.name));
    EXPECT_THAT(std::string(put.message()), HasSubstr(one.words));
    EXPECT_THAT(std::string(put.message()), Not(HasSubstr(kSecret)));
    EXPECT_THAT(std::string(put.message()), Not(HasSubstr("\n")));
  }
}

TEST_F(S3BlobStoreTest, AStoreThatLiesIsNotBelieved) {
  S3BlobStore store = StoreAt("runs");
  ASSERT_TRUE(store.Put("a", BytesOf("abc")).ok());
  server_.fault = [&](size_t, absl::StatusOr<HttpReply> done) {
    if (!done->body.empty()) done->body.pop_back();
    return done;
  };
  EXPECT_TRUE(absl::IsDataLoss(store.Get("a").status()));
  EXPECT_TRUE(absl::IsDataLoss(store.List("").status()));
}

}  // namespace
}  // namespace skerry::runtime::s3
