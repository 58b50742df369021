#include "runtime/posix/heap.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

int Heaps() {
  char* text = nullptr;
  size_t size = 0;
  FILE* const file = open_memstream(&text, &size);
  EXPECT_EQ(malloc_info(0, file), 0);
  std::fclose(file);
  int heaps = 0;
  const std::string_view told(text, size);
  constexpr std::string_view kHeap = "<heap nr=";
  for (size_t at = told.find(kHeap); at != told.npos;
       at = told.find(kHeap, at + 1)) {
    ++heaps;
  }
  std::free(text);
  return heaps;
}

TEST(HeapTest, ManyThreadsHaveOneHeap) {
  ShareHeap();
  constexpr int kThreads = 12;
  std::latch all(kThreads);
  std::vector<std::thread> threads;
  std::vector<std::string> kept(kThreads);
  for (std::string& one : kept) {
    threads.emplace_back([&one, &all] {
      one.assign(1000, 'x');
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Heaps(), 1);
}

// The resident bytes of this process.
size_t Resident() {
  size_t size = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<size_t>(getpagesize());
}

TEST(HeapTest, FreeMemoryGoesBackToTheSystem) {
  constexpr size_t kPieces = 4096;
  constexpr size_t kPieceBytes = 4000;
  std::vector<std::unique_ptr<char[]>> pieces(kPieces);
  for (std::unique_ptr<char[]>& piece : pieces) {
    piece = std::make_unique<char[]>(kPieceBytes);
  }
  if (mallinfo2().arena < kPieces * kPieceBytes) {
    GTEST_SKIP() << "a sanitizer's allocator is in glibc's place";
  }
  // While one piece at the end is in use, freeing the others gives nothing
  // back.
  const std::unique_ptr<char[]> last = std::move(pieces.back());
  pieces.clear();
  const size_t before = Resident();
  ReturnFreeHeap();
  EXPECT_LT(Resident() + kPieces * kPieceBytes / 2, before);
}

size_t PagesTaken() {
  rusage usage = {};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<size_t>(usage.ru_minflt);
}

TEST(HeapTest, LargePiecesOfEveryRoundTakePagesOnce) {
  KeepFreeHeap();
  constexpr size_t kPieces = 8;
  constexpr size_t kPieceBytes = size_t{4} << 20;
  const auto round = [] {
    const size_t before = PagesTaken();
    std::vector<std::unique_ptr<char[]>> pieces;
    for (size_t i = 0; i < kPieces; ++i) {
      pieces.push_back(std::make_unique_for_overwrite<char[]>(kPieceBytes));
      std::memset(pieces.back().get(), 1, kPieceBytes);
    }
    return PagesTaken() - before;
  };
  const size_t first = round();
  if (mallinfo2().arena < kPieces * kPieceBytes) {
    GTEST_SKIP() << "a sanitizer's allocator is in glibc's place";
  }
  EXPECT_GE(first, kPieces);
  EXPECT_LT(round(), first / 2);
  const size_t kept = Resident();
  ReturnFreeHeap();
  EXPECT_LT(Resident() + kPieces * kPieceBytes / 2, kept);
}

}  // namespace
}  // namespace skerry::runtime
