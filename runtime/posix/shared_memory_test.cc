#include "runtime/posix/shared_memory.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

std::string Name(const char* which) {
  return absl::StrCat("/skerry-test-", getpid(), "-", which);
}

TEST(SharedMemoryTest, OpenerSeesWhatTheMakerWrote) {
  auto made = SharedMemory::Create(Name("seen"), 4096);
  ASSERT_TRUE(made.ok()) << made.status();
  (*made)->bytes()[100] = std::byte{7};
  auto opened = SharedMemory::Open(Name("seen"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->bytes().size(), 4096);
  EXPECT_EQ((*opened)->bytes()[100], std::byte{7});
}

TEST(SharedMemoryTest, NameIsFreeOnceTheMakerIsGone) {
  ASSERT_TRUE(SharedMemory::Create(Name("freed"), 16).ok());
  EXPECT_TRUE(absl::IsNotFound(SharedMemory::Open(Name("freed")).status()));
}

TEST(SharedMemoryTest, OpenerKeepsWhatLostItsName) {
  auto made = SharedMemory::Create(Name("unlinked"), 16);
  auto opened = SharedMemory::Open(Name("unlinked"));
  ASSERT_TRUE(made.ok() && opened.ok());
  (*made)->Unlink();
  EXPECT_FALSE(SharedMemory::Open(Name("unlinked")).ok());
  (*made)->bytes()[3] = std::byte{9};
  EXPECT_EQ((*opened)->bytes()[3], std::byte{9});
}

TEST(SharedMemoryTest, TwoMakersCannotShareAName) {
  auto made = SharedMemory::Create(Name("taken"), 16);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(
      absl::IsAlreadyExists(SharedMemory::Create(Name("taken"), 16).status()));
}

}  // namespace
}  // namespace skerry::runtime
