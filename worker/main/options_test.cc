#include "worker/main/options.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

// The command line of a worker with the flags that have no default, and `more`.
ParsedCommandLine Parse(const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "skerry-worker", "--name",      "w0",         "--island",    "west",
      "--coordinator", "127.0.0.1:1", "--listen",   "127.0.0.1:0", "--state",
      "/tmp/w0-state", "--run-dir",   "/tmp/w0-run"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
}

// docs/worker.md names both defaults.
TEST(OptionsTest, EndedJobsStayForAWeekAnd64GiB) {
  const ParsedCommandLine parsed = Parse({});
  ASSERT_FALSE(parsed.exit);
  EXPECT_EQ(parsed.command_line.retention.age, absl::Hours(7 * 24));
  EXPECT_EQ(parsed.command_line.retention.bytes, uint64_t{64} << 30);
}

TEST(OptionsTest, FlagsSayHowLongEndedJobsStay) {
  const ParsedCommandLine parsed =
      Parse({"--keep-ended-h", "1.5", "--keep-ended-gib", "0.25"});
  ASSERT_FALSE(parsed.exit);
  EXPECT_EQ(parsed.command_line.retention.age, absl::Minutes(90));
  EXPECT_EQ(parsed.command_line.retention.bytes, uint64_t{256} << 20);
}

TEST(OptionsTest, RetentionOutOfBoundsEndsTheProcess) {
  for (const char* flag : {"--keep-ended-h", "--keep-ended-gib"}) {
    for (const char* value : {"-1", "1e300", "nan", "a week"}) {
      const ParsedCommandLine parsed = Parse({flag, value});
      EXPECT_TRUE(parsed.exit) << flag << " " << value;
      EXPECT_EQ(parsed.exit_code, 2) << flag << " " << value;
    }
  }
}

}  // namespace
}  // namespace skerry::worker
