#include "coordinator/page/change_log.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

constexpr auto kJobs = PageList::kJobs;
constexpr auto kWorkers = PageList::kWorkers;
constexpr auto kEvents = PageList::kEvents;

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

// A turn with these objects, whose texts are their news too.
struct Turn {
  ChangeLog& log;
  Turn(ChangeLog& log, double seconds) : log(log) { log.Begin(At(seconds)); }
  ~Turn() { log.End(); }
  Turn& Put(PageList list, const std::string& key, const std::string& text,
            absl::Duration rest = absl::ZeroDuration(),
            std::optional<PageAge> age = std::nullopt) {
    log.Put(list, key, std::hash<std::string>()(text), rest, std::move(age),
            [&] { return text; });
    return *this;
  }
};

TEST(ChangeLogTest, AReaderIsSentWhatIsNewToIt) {
  ChangeLog log;
  EXPECT_EQ(log.Since(0, At(0)), "\"whole\":true");
  Turn(log, 1).Put(kJobs, "1", "{\"id\":1}").Put(kWorkers, "w", "{\"w\":1}");
  EXPECT_EQ(log.tick(), 1u);
  EXPECT_EQ(log.Since(0, At(1)),
            "\"whole\":true,\"jobs\":[{\"id\":1}],\"workers\":[{\"w\":1}]");
  EXPECT_EQ(log.Since(1, At(1)), "");
  Turn(log, 2).Put(kJobs, "1", "{\"id\":1}").Put(kWorkers, "w", "{\"w\":2}");
  EXPECT_EQ(log.Since(1, At(2)), "\"workers\":[{\"w\":2}]");
}

TEST(ChangeLogTest, ATurnWithoutNewsIsNoChange) {
  ChangeLog log;
  Turn(log, 1).Put(kJobs, "1", "{\"id\":1}");
  Turn(log, 2).Put(kJobs, "1", "{\"id\":1}");
  EXPECT_EQ(log.tick(), 1u);
}

TEST(ChangeLogTest, AfterAJobOrAWorkerHasGoneReadersGetEverything) {
  ChangeLog log;
  Turn(log, 1).Put(kJobs, "1", "{\"id\":1}").Put(kJobs, "2", "{\"id\":2}");
  Turn(log, 2).Put(kJobs, "2", "{\"id\":2}");
  EXPECT_EQ(log.Since(1, At(2)), "\"whole\":true,\"jobs\":[{\"id\":2}]");
  EXPECT_EQ(log.Since(log.tick(), At(2)), "");
}

TEST(ChangeLogTest, EventsThatLeaveAreNoChange) {
  ChangeLog log;
  Turn(log, 1).Put(kEvents, "1", "{\"e\":1}").Put(kEvents, "2", "{\"e\":2}");
  Turn(log, 2).Put(kEvents, "2", "{\"e\":2}");
  EXPECT_EQ(log.tick(), 1u);
  EXPECT_EQ(log.Since(0, At(2)), "\"whole\":true,\"events\":[{\"e\":2}]");
}

TEST(ChangeLogTest, AReaderOfAnotherProcessStartsAnew) {
  ChangeLog log;
  Turn(log, 1).Put(kJobs, "1", "{\"id\":1}");
  EXPECT_EQ(log.Since(99, At(1)), "\"whole\":true,\"jobs\":[{\"id\":1}]");
}

TEST(ChangeLogTest, AgesAreThoseOfTheMoment) {
  ChangeLog log;
  Turn(log, 1).Put(kJobs, "1", "{\"id\":1}", {}, PageAge{"age_ms", At(-2)});
  EXPECT_EQ(log.Since(0, At(4)),
            "\"whole\":true,\"jobs\":[{\"id\":1,\"age_ms\":\"6000\"}]");
  Turn(log, 5).Put(kJobs, "1", "{\"id\":1}", {}, PageAge{"age_ms", At(3)});
  EXPECT_EQ(log.Since(1, At(5)), "") << "an age is no news";
  EXPECT_EQ(log.Since(0, At(5)),
            "\"whole\":true,\"jobs\":[{\"id\":1,\"age_ms\":\"2000\"}]");
}

TEST(ChangeLogTest, WhatRestsIsSentLaterAndNotLost) {
  ChangeLog log;
  const absl::Duration rest = absl::Seconds(10);
  Turn(log, 1).Put(kWorkers, "w", "{\"w\":1}", rest);
  Turn(log, 2).Put(kWorkers, "w", "{\"w\":2}", rest);
  EXPECT_EQ(log.Since(1, At(2)), "");
  Turn(log, 11).Put(kWorkers, "w", "{\"w\":2}", rest);
  EXPECT_EQ(log.Since(1, At(11)), "\"workers\":[{\"w\":2}]");
}

TEST(ChangeLogTest, ALargeObjectIsSentMoreSeldom) {
  ChangeLog log;
  const auto large = [](char c) {
    return "{\"x\":\"" + std::string(3 * 65536, c) + "\"}";
  };
  Turn(log, 1).Put(kJobs, "1", large('a'));
  Turn(log, 3).Put(kJobs, "1", large('b'));
  EXPECT_EQ(log.tick(), 1u);
  Turn(log, 5).Put(kJobs, "1", large('b'));
  EXPECT_EQ(log.tick(), 2u);
}

TEST(ChangeLogTest, WhatIsKeptStays) {
  ChangeLog log;
  Turn(log, 1).Put(kJobs, "1/a", "{\"id\":1}").Put(kJobs, "2/a", "{\"id\":2}");
  log.Begin(At(2));
  log.Keep(kJobs, "1/");
  log.Keep(kJobs, "2/");
  log.End();
  EXPECT_EQ(log.tick(), 1u);
  log.Begin(At(3));
  log.Keep(kJobs, "1/");
  log.End();
  EXPECT_EQ(log.Since(1, At(3)), "\"whole\":true,\"jobs\":[{\"id\":1}]");
}

}  // namespace
}  // namespace skerry::coordinator
