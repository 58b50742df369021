#include "tests/exhaustive/expect.h"

#include <cstdio>

#include "gtest/gtest.h"

namespace skerry::exhaustive {

void ExpectComplete(const std::string& bounds, const Explored& explored) {
  std::printf("%s: %llu states, %llu transitions, %llu followed to the end%s\n",
              bounds.c_str(), static_cast<unsigned long long>(explored.states),
              static_cast<unsigned long long>(explored.transitions),
              static_cast<unsigned long long>(explored.ends),
              explored.complete ? "; complete" : "");
  std::string way;
  for (const std::string& step : explored.path) way += "\n  " + step;
  EXPECT_EQ(explored.broken, "") << "after" << way;
  EXPECT_TRUE(explored.complete || !explored.broken.empty())
      << "there are more states than its bounds say";
}

}  // namespace skerry::exhaustive
