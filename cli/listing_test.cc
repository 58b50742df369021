#include "cli/listing.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kWorkers[] = R"({"workers": [
 {"worker": "a", "island": "north", "silence_ms": "900", "jobs": ["x", "y"],
  "intent": "WORKER_INTENT_SERVE"},
 {"worker": "b", "island": "south", "silence_ms": "1000", "jobs": [],
  "intent": "WORKER_INTENT_DRAIN", "machine": {"state_bytes": "7"}},
 {"worker": "c", "island": "north", "silence_ms": "80", "jobs": ["y"],
  "intent": "WORKER_INTENT_SERVE"}]})";

const ListSchema& Schema() {
  static const ListSchema* const schema = new ListSchema{
      "workers", v1::WorkerView::descriptor(), {{"name", "worker"}}};
  return *schema;
}

std::vector<size_t> Choose(const std::string& selector,
                           const std::string& sort_by = "") {
  const auto chosen = ChooseItems(kWorkers, Schema(),
                                  {.selector = selector, .sort_by = sort_by});
  EXPECT_TRUE(chosen.ok()) << chosen.status();
  return chosen.value_or(std::vector<size_t>{});
}

TEST(ListingTest, ASelectorIsEqualityOrItsOppositeOfAnyField) {
  EXPECT_THAT(Choose(""), ElementsAre(0, 1, 2));
  EXPECT_THAT(Choose("island=north"), ElementsAre(0, 2));
  EXPECT_THAT(Choose("island==north,name!=a"), ElementsAre(2));
  EXPECT_THAT(Choose("jobs=y"), ElementsAre(0, 2));
  EXPECT_THAT(Choose("jobs!=x"), ElementsAre(1, 2));
  EXPECT_THAT(Choose("intent=drain"), ElementsAre(1));
  EXPECT_THAT(Choose("machine.state_bytes=7"), ElementsAre(1));
}

TEST(ListingTest, NumbersAreSortedByValueAndWhatIsMissingComesFirst) {
  EXPECT_THAT(Choose("", "silence_ms"), ElementsAre(2, 0, 1));
  EXPECT_THAT(Choose("", "island"), ElementsAre(0, 2, 1));
  EXPECT_THAT(Choose("", "machine.state_bytes"), ElementsAre(0, 2, 1));
}

TEST(ListingTest, AnUnknownFieldIsNamedWithTheNearest) {
  const auto wrong = [](const ListArguments& arguments) {
    return std::string(
        ChooseItems(kWorkers, Schema(), arguments).status().message());
  };
  EXPECT_EQ(wrong({.selector = "isle=x"}), "workers have no field isle");
  EXPECT_EQ(wrong({.selector = "islands=x"}),
            "workers have no field islands; did you mean island?");
  EXPECT_EQ(wrong({.sort_by = "machine.state_byte"}),
            "workers have no field machine.state_byte; did you mean "
            "state_bytes?");
  EXPECT_THAT(wrong({.selector = "island"}), HasSubstr("FIELD=VALUE"));
}

TEST(ListingTest, ColumnsAreWhatWasAskedFor) {
  EXPECT_EQ(*CustomTable(kWorkers, Schema(), {2, 0},
                         "NAME:name,SILENT:silence_ms,JOBS:jobs"),
            "NAME  SILENT  JOBS\n"
            "c         80  y\n"
            "a        900  x,y\n");
  EXPECT_FALSE(CustomTable(kWorkers, Schema(), {0}, "").ok());
  EXPECT_FALSE(CustomTable(kWorkers, Schema(), {0}, "NAME").ok());
  EXPECT_FALSE(CustomTable(kWorkers, Schema(), {0}, "NAME:nome").ok());
}

TEST(ListingTest, JsonHoldsTheChosenItemsUnchanged) {
  EXPECT_THAT(ChosenLines(kWorkers, Schema(), {1}),
              testing::StartsWith("{\"worker\":\"b\",\"island\":\"south\""));
  EXPECT_THAT(ChosenJson(kWorkers, Schema(), {}), HasSubstr("\"workers\": []"));
  EXPECT_EQ(WithoutTitles("NAME\na\nb\n"), "a\nb\n");
}

}  // namespace
}  // namespace skerry::cli
