#include "runtime/posix/heap.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
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

TEST(HeapTest, ManyThreadsHaveTwoHeaps) {
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
  EXPECT_LE(Heaps(), 2);
  EXPECT_GE(Heaps(), 1);
}

}  // namespace
}  // namespace skerry::runtime
