// Tests which orders the shell gives to which stream, and when.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/testing/memory_journal.h"
#include "coordinator/service/testing/shell_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(ShellOrdersTest, AStreamGetsOnlyTheNewestOrders) {
  MemoryDisk disk;
  ShellProcess process(disk);
  FakeStream stream;
  stream.hold_open = false;
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  process.shell.Attach("a", stream);
  process.shell.Touch("a");
  process.loop.RunUntilIdle();
  ASSERT_THAT(stream.sent, SizeIs(1));
  // While the first is on its way, more becomes known.
  for (int i = 0; i < 5; ++i) {
    process.Report(absl::StrCat("b", i), 100 + i, 0, 1);
    process.shell.Touch("a");
    process.loop.RunUntilIdle();
  }
  EXPECT_THAT(stream.sent, SizeIs(1));
  stream.Drain();
  process.shell.StreamReady("a");
  process.loop.RunUntilIdle();
  ASSERT_THAT(stream.sent, SizeIs(2));
  EXPECT_EQ(stream.sent[1].revision, Revision(6));
}

TEST(ShellOrdersTest, WhatOthersAddToOrdersGoesOutWithThem) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.shell.set_add_orders([](const std::string& worker, Orders& orders) {
    orders.drain = worker == "a";
  });
  FakeStream a;
  FakeStream b;
  process.Report("a", 7, 0, 1);
  process.Report("b", 8, 0, 1);
  process.loop.RunUntilIdle();
  process.shell.Attach("a", a);
  process.shell.Attach("b", b);
  process.shell.Touch("a");
  process.shell.Touch("b");
  process.loop.RunUntilIdle();
  ASSERT_THAT(a.sent, SizeIs(1));
  ASSERT_THAT(b.sent, SizeIs(1));
  EXPECT_TRUE(a.sent[0].drain);
  EXPECT_FALSE(b.sent[0].drain);
}

constexpr int kWorkers = 200;

// Registers workers w0, w1 and so on, one for each stream.
void AttachAll(ShellProcess& process, std::vector<FakeStream>& streams) {
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::string name = absl::StrCat("w", i);
    process.Report(name, 100 + i, 0, 1);
    process.loop.RunUntilIdle();
    process.shell.Attach(name, streams[i]);
  }
}

// Else a call would wait until each of thousands of workers has its orders.
TEST(ShellOrdersTest, ACallHasItsTurnBetweenOrders) {
  MemoryDisk disk;
  ShellProcess process(disk);
  std::vector<FakeStream> streams(kWorkers);
  AttachAll(process, streams);
  const auto sent = [&streams] {
    return std::count_if(streams.begin(), streams.end(),
                         [](const FakeStream& s) { return !s.sent.empty(); });
  };
  std::optional<int64_t> seen;
  for (int i = 0; i < kWorkers; ++i) {
    process.shell.Touch(absl::StrCat("w", i));
  }
  // It comes in while the first ones get theirs.
  streams[0].on_send = [&] {
    process.shell.Look([&](const Cluster&, Instant) { seen = sent(); });
  };
  process.loop.RunUntilIdle();
  ASSERT_TRUE(seen.has_value());
  EXPECT_LT(*seen, kWorkers / 2);
  EXPECT_EQ(sent(), kWorkers);
  for (const FakeStream& stream : streams) EXPECT_THAT(stream.sent, SizeIs(1));
}

// Those that came early in the order of names would have all turns if others
// never stopped to change.
TEST(ShellOrdersTest, EveryWorkerHasItsTurn) {
  MemoryDisk disk;
  ShellProcess process(disk);
  std::vector<FakeStream> streams(kWorkers);
  AttachAll(process, streams);
  int left = 20 * kWorkers;
  for (int i = 0; i < kWorkers; ++i) {
    const std::string name = absl::StrCat("w", i);
    streams[i].on_send = [&process, &left, name] {
      if (--left > 0) process.shell.Touch(name);
    };
    process.shell.Touch(name);
  }
  process.loop.RunUntilIdle();
  for (const FakeStream& stream : streams) EXPECT_GE(stream.sent.size(), 15u);
}

TEST(ShellOrdersTest, ADetachedStreamHearsNothing) {
  MemoryDisk disk;
  ShellProcess process(disk);
  FakeStream older;
  FakeStream newer;
  process.Report("a", 7, 0, 1);
  process.shell.Attach("a", older);
  process.shell.Attach("a", newer);
  // The older one leaves after it was replaced.
  process.shell.Detach("a", older);
  process.shell.Touch("a");
  process.loop.RunUntilIdle();
  EXPECT_THAT(older.sent, IsEmpty());
  EXPECT_FALSE(newer.sent.empty());
  newer.sent.clear();
  process.shell.Detach("a", newer);
  process.shell.Touch("a");
  process.loop.RunUntilIdle();
  EXPECT_THAT(newer.sent, IsEmpty());
}

}  // namespace
}  // namespace skerry::coordinator
