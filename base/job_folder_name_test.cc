#include "base/job_folder_name.h"

#include "gtest/gtest.h"

namespace skerry {
namespace {

TEST(JobFolderNameTest, IsReadAsItIsWritten) {
  for (const auto& [job, uid] :
       {std::pair<uint64_t, uint64_t>{7, 0xab}, {~uint64_t{0}, ~uint64_t{0}}}) {
    const auto read = ParseJobFolderName(JobFolderName(job, uid));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->first, job);
    EXPECT_EQ(read->second, uid);
  }
  EXPECT_EQ(JobFolderName(7, 0xab), "7-00000000000000ab");
}

TEST(JobFolderNameTest, OtherNamesAreRefused) {
  for (const char* other :
       {"", "-", "7", "-00000000000000ab", "7-ab", "07-00000000000000ab",
        "7-00000000000000AB", "7-0x000000000000ab", "x-00000000000000ab",
        "7-00000000000000ab.ended", "lost+found",
        "99999999999999999999-00000000000000ab"}) {
    EXPECT_FALSE(ParseJobFolderName(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace skerry
