#include "coordinator/core/rules/relays.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

class RelaysTest : public testing::Test {
 protected:
  RelaysTest() {
    Admit("a", true, false);
    Admit("b", true, false);
  }

  // A new process of the worker, in an island of its own.
  void Admit(const std::string& name, bool outbound_only, bool relay) {
    ++index_;
    ASSERT_TRUE(
        workers_
            .Apply(Incarnation(index_),
                   WorkerAdmitted{{name, name + ":1", "", outbound_only, relay},
                                  Boot(index_),
                                  name,
                                  "",
                                  FolderId(1),
                                  Boot(index_)})
            .ok());
  }
  void Leave(const std::string& name) {
    ASSERT_TRUE(
        workers_.Apply(WorkerLeft{name, At(name).incarnation, "a test"}).ok());
  }
  StatusFacts StatusOf(const std::string& name) {
    StatusFacts status;
    status.self = At(name).self;
    status.counter = ++counter_;
    status.takes_relays = true;
    return status;
  }
  const Worker& At(const std::string& name) {
    return *workers_.FindCurrent(name);
  }
  // The relay of a and b, whichever of them asks.
  std::string Relay() {
    const Worker* one = RelayFor(workers_, At("a"), At("b"));
    EXPECT_EQ(RelayFor(workers_, At("b"), At("a")), one);
    return one == nullptr ? "" : one->self.worker;
  }

  WorkerTable workers_{{}};
  uint64_t index_ = 0;
  uint64_t counter_ = 0;
};

TEST_F(RelaysTest, AWorkerThatCanBeDialledAndRelaysIsARelay) {
  Admit("open", false, false);
  Admit("hidden", true, true);
  EXPECT_EQ(Relay(), "");
  EXPECT_FALSE(CanReach(workers_, At("a"), At("b")));
  Admit("r", false, true);
  EXPECT_EQ(Relay(), "r");
  EXPECT_TRUE(CanReach(workers_, At("a"), At("b")));
}

TEST_F(RelaysTest, ARelayThatIsLostOrIsNoneAnyMoreIsNotUsed) {
  Admit("r", false, true);
  Leave("r");
  EXPECT_EQ(Relay(), "");
  Admit("r", false, true);
  EXPECT_EQ(Relay(), "r");
  Admit("r", false, false);
  EXPECT_EQ(Relay(), "");
}

TEST_F(RelaysTest, BothHaveToUseRelays) {
  Admit("r", false, true);
  StatusFacts status = StatusOf("b");
  status.takes_relays = false;
  workers_.Heard(status, Instant());
  EXPECT_EQ(Relay(), "");
}

TEST_F(RelaysTest, ASilentRelayIsUsedWhereThereIsNoBetterOne) {
  Admit("r", false, true);
  Admit("s", false, true);
  const std::string first = Relay();
  const std::string second = first == "r" ? "s" : "r";
  workers_.LoseStream(first, At(first).boot, Instant());
  EXPECT_EQ(Relay(), second);
  workers_.LoseStream(second, At(second).boot, Instant());
  EXPECT_EQ(Relay(), first);
  // Once it is heard it serves again.
  workers_.Heard(StatusOf(first), Instant());
  EXPECT_EQ(Relay(), first);
}

TEST_F(RelaysTest, OneThatDrainsOrThatOneOfThemMissesComesLater) {
  Admit("r", false, true);
  Admit("s", false, true);
  const std::string first = Relay();
  const std::string second = first == "r" ? "s" : "r";
  StatusFacts status = StatusOf("a");
  status.unreached = {first};
  workers_.Heard(status, Instant());
  EXPECT_EQ(Relay(), second);
  ASSERT_TRUE(workers_.Apply(WorkerMarked{second, WorkerIntent::kDrain}).ok());
  EXPECT_EQ(Relay(), first);
}

TEST_F(RelaysTest, PairsAreSpreadAndOnlyThoseOfARelayThatLeavesMove) {
  for (const char* name : {"r", "s", "t"}) Admit(name, false, true);
  constexpr int kPairs = 300;
  for (int i = 0; i < kPairs; ++i) Admit(absl::StrCat("w", i), true, false);
  absl::btree_map<int, std::string> before;
  absl::btree_map<std::string, int> count;
  const auto relay_of = [&](int i) {
    return RelayFor(workers_, At("a"), At(absl::StrCat("w", i)))->self.worker;
  };
  for (int i = 0; i < kPairs; ++i) ++count[before[i] = relay_of(i)];
  for (const char* name : {"r", "s", "t"}) EXPECT_GT(count[name], kPairs / 5);
  Leave("s");
  for (int i = 0; i < kPairs; ++i) {
    if (before[i] != "s") {
      EXPECT_EQ(relay_of(i), before[i]) << i;
    }
  }
}

}  // namespace
}  // namespace skerry::coordinator
