#include "coordinator/core/rules/tries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

using protocol::TryOrder;
using Names = std::vector<std::string>;

class TriesTest : public testing::Test {
 protected:
  void Admit(const std::string& name, const std::string& island,
             bool outbound_only = false) {
    ++index_;
    ASSERT_TRUE(
        workers_
            .Apply(Incarnation(index_),
                   WorkerAdmitted{
                       {name, name + ":1", "", outbound_only, false, {"h:2"}},
                       Boot(index_),
                       island,
                       "",
                       FolderId(1),
                       Boot(index_)})
            .ok());
  }
  // `name` says what it found, and misses `unreached`.
  void Hear(const std::string& name, const Names& failed,
            const Names& unreached = {}) {
    StatusFacts status;
    status.self = At(name).self;
    status.island = At(name).island;
    status.counter = ++counter_;
    status.takes_streams = true;
    status.unreached = unreached;
    for (const std::string& other : failed) {
      status.tried.push_back({other, At(other).incarnation,
                              absl::ZeroDuration(), 0, "Connection refused"});
    }
    workers_.Heard(status, Instant(absl::Seconds(counter_)));
  }
  const Worker& At(const std::string& name) {
    return *workers_.FindCurrent(name);
  }
  std::vector<TryOrder> Tries(const std::string& name) {
    return TriesFor(jobs_, workers_, At(name));
  }
  Names NamesOf(const std::string& name) {
    Names names;
    for (const TryOrder& order : Tries(name)) names.push_back(order.worker);
    std::sort(names.begin(), names.end());
    return names;
  }

  JobTable jobs_{{}};
  WorkerTable workers_{{}};
  uint64_t index_ = 0;
  uint64_t counter_ = 0;
};

TEST_F(TriesTest, FewWorkersOfDifferentIslandsAllDialEachOther) {
  Admit("a", "west");
  Admit("b", "west");
  Admit("c", "east");
  Admit("d", "north");
  Admit("silent", "south", true);
  EXPECT_EQ(NamesOf("a"), (Names{"c", "d"}));
  EXPECT_EQ(NamesOf("c"), (Names{"a", "b", "d"}));
  EXPECT_EQ(NamesOf("silent"), (Names{"a", "b", "c", "d"}));
}

TEST_F(TriesTest, TheyAreToldWhereAndWhichProcess) {
  Admit("a", "west");
  Admit("c", "east");
  EXPECT_EQ(
      Tries("a"),
      (std::vector<TryOrder>{{"c", Incarnation(2), {"c:1", "h:2"}, false}}));
  Admit("c", "east");
  EXPECT_EQ(Tries("a")[0].incarnation, Incarnation(3));
}

TEST_F(TriesTest, OfAThousandNobodyDialsManyAndNobodyIsDialledByMany) {
  Admit("lone", "far");
  for (int i = 0; i < 999; ++i) {
    Admit(absl::StrCat("w", i), i < 800 ? "west" : "east");
  }
  absl::btree_map<std::string, size_t> dialled;
  for (const auto& [name, worker] : workers_.all()) {
    const Names names = NamesOf(name);
    EXPECT_LE(names.size(), kTriesOfAKind);
    for (const std::string& other : names) ++dialled[other];
  }
  EXPECT_GT(dialled["lone"], 0u);
  size_t most = 0, without = 0;
  for (const auto& [name, worker] : workers_.all()) {
    most = std::max(most, dialled[name]);
    without += dialled[name] == 0 ? 1 : 0;
  }
  EXPECT_LE(most, kRingSteps);
  // Each of the 200 outside dials four of the 800 inside, so chance leaves some
  // of these out: 800 / e of them.
  EXPECT_LT(without, 400u);
}

TEST_F(TriesTest, WhoCouldNotDialItIsDialledBackAgainAndAgain) {
  for (int i = 0; i < 50; ++i) Admit(absl::StrCat("w", i), "west");
  Admit("c", "east");
  const Names before = NamesOf("c");
  std::string other;
  for (const auto& [name, worker] : workers_.all()) {
    if (name != "c" &&
        !std::binary_search(before.begin(), before.end(), name)) {
      other = name;
    }
  }
  Hear(other, {"c"});
  const std::vector<TryOrder> orders = Tries("c");
  ASSERT_FALSE(orders.empty());
  EXPECT_EQ(orders[0].worker, other);
  EXPECT_TRUE(orders[0].again);
  EXPECT_FALSE(orders[1].again);
}

TEST_F(TriesTest, WhomItMissesIsDialledToo) {
  for (int i = 0; i < 50; ++i) Admit(absl::StrCat("w", i), "west");
  Admit("c", "east");
  Hear("c", {}, {"w0", "w1", "w2", "w3", "w4", "gone"});
  const Names names = NamesOf("c");
  for (const char* missed : {"w0", "w1", "w2", "w3"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), missed));
  }
  EXPECT_LE(names.size(), 2 * kTriesOfAKind);
}

TEST_F(TriesTest, AWorkerThatIsFoundHiddenIsStillDialled) {
  Admit("a", "west");
  Admit("c", "east");
  Hear("a", {"c"});
  StatusFacts status;
  status.self = At("c").self;
  status.island = "east";
  status.counter = 1;
  status.tried = {{"a", At("a").incarnation, absl::ZeroDuration(), 3, ""}};
  workers_.Heard(status, Instant(absl::Seconds(10)));
  counter_ = 20;
  Hear("a", {"c"});
  EXPECT_TRUE(At("c").IsHidden());
  EXPECT_EQ(NamesOf("a"), Names{"c"});
}

}  // namespace
}  // namespace skerry::coordinator
