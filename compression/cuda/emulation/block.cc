#include "compression/cuda/emulation/block.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "compression/cuda/emulation/fiber.h"

namespace skerry::compression::cuda::emulation {
namespace {

enum class State { kReady, kInBlock, kInWarp, kEnded };

struct Thread {
  Fiber fiber;
  State state = State::kEnded;
  int line = 0;
  unsigned mask = 0;
  uint64_t brought = 0;
  WarpValues seen{};
};

class Block {
 public:
  std::string Run(const std::function<void()>& kernel, Order& order);

  // Of the thread that runs.
  void MeetBlock(int line);
  const WarpValues& MeetWarp(unsigned mask, uint64_t mine, int line);
  void Fail(std::string why);
  size_t current() const { return current_; }

 private:
  void Prepare(const std::function<void()>& kernel);
  void RunOne(size_t index);
  void Wait(State state, int line);
  void ReleaseBlock();
  void ReleaseWarp(size_t index);
  void Ready(size_t index);
  std::string WhyStuck() const;

  // Kept from block to block; may be more than `size_`.
  std::vector<std::unique_ptr<Thread>> threads_;
  size_t size_ = 0;
  size_t current_ = 0;
  size_t ended_ = 0;
  size_t in_block_ = 0;
  std::vector<size_t> ready_;
  std::string failure_;
};

Block& TheBlock() {
  static auto* const block = new Block;
  return *block;
}

dim3 IndexOf(size_t thread) {
  const auto index = static_cast<unsigned>(thread);
  return {index % blockDim.x, index / blockDim.x % blockDim.y,
          index / blockDim.x / blockDim.y};
}

std::string Block::Run(const std::function<void()>& kernel, Order& order) {
  Prepare(kernel);
  while (!ready_.empty() && failure_.empty()) {
    const size_t at = order.Next(ready_.size());
    const size_t index = ready_[at];
    ready_.erase(ready_.begin() + static_cast<ptrdiff_t>(at));
    RunOne(index);
  }
  if (failure_.empty() && ended_ < size_) failure_ = WhyStuck();
  if (failure_.empty()) return {};
  threads_.clear();  // as they are in the middle of the kernel
  return std::exchange(failure_, {});
}

void Block::Prepare(const std::function<void()>& kernel) {
  size_ = size_t{blockDim.x} * blockDim.y * blockDim.z;
  SKERRY_CHECK(size_ <= kThreadsMax);
  while (threads_.size() < size_) {
    threads_.push_back(std::make_unique<Thread>());
  }
  ended_ = 0;
  in_block_ = 0;
  ready_.clear();
  for (size_t index = 0; index < size_; ++index) {
    threads_[index]->fiber.Start(kernel);
    Ready(index);
  }
}

void Block::RunOne(size_t index) {
  current_ = index;
  threadIdx = IndexOf(index);
  Thread& thread = *threads_[index];
  thread.fiber.Resume();
  if (thread.fiber.ended()) {
    thread.state = State::kEnded;
    ++ended_;
  }
  if (thread.state == State::kInWarp) ReleaseWarp(index);
  if (in_block_ > 0 && in_block_ + ended_ == size_) ReleaseBlock();
}

void Block::Ready(size_t index) {
  threads_[index]->state = State::kReady;
  ready_.push_back(index);
}

void Block::Wait(State state, int line) {
  Thread& thread = *threads_[current_];
  thread.state = state;
  thread.line = line;
  thread.fiber.Pause();
}

void Block::MeetBlock(int line) {
  ++in_block_;
  Wait(State::kInBlock, line);
}

const WarpValues& Block::MeetWarp(unsigned mask, uint64_t mine, int line) {
  Thread& thread = *threads_[current_];
  if ((mask >> current_ % kWarp & 1u) == 0) {
    Fail(absl::StrCat("line ", line, ": a lane is not in its own mask"));
  }
  thread.mask = mask;
  thread.brought = mine;
  Wait(State::kInWarp, line);
  return thread.seen;
}

void Block::Fail(std::string why) {
  failure_ = std::move(why);
  while (true) threads_[current_]->fiber.Pause();
}

void Block::ReleaseBlock() {
  in_block_ = 0;
  const auto waits = [&](size_t index) {
    return threads_[index]->state == State::kInBlock;
  };
  int line = 0;
  for (size_t index = 0; index < size_; ++index) {
    if (!waits(index)) continue;
    if (line == 0) line = threads_[index]->line;
    if (line != threads_[index]->line) {
      failure_ = absl::StrCat("threads meet at the barriers of lines ", line,
                              " and ", threads_[index]->line);
      return;
    }
    Ready(index);
  }
}

// If all have come whom thread `index` waits for.
void Block::ReleaseWarp(size_t index) {
  const Thread& last = *threads_[index];
  const size_t first = index / kWarp * kWarp;
  const auto waited_for = [&](unsigned lane) {
    return (last.mask >> lane & 1u) != 0;
  };
  WarpValues all{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!waited_for(lane)) continue;
    if (first + lane >= size_) return;
    const Thread& other = *threads_[first + lane];
    if (other.state != State::kInWarp || other.mask != last.mask ||
        other.line != last.line) {
      return;
    }
    all[lane] = other.brought;
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!waited_for(lane)) continue;
    threads_[first + lane]->seen = all;
    Ready(first + lane);
  }
}

// How many threads wait where.
std::string Block::WhyStuck() const {
  std::map<std::pair<State, int>, int> waiting;
  for (size_t index = 0; index < size_; ++index) {
    const Thread& thread = *threads_[index];
    if (thread.state == State::kEnded) continue;
    ++waiting[{thread.state, thread.line}];
  }
  std::string why = absl::StrCat("waiting for ever, with ", ended_, " of ",
                                 size_, " threads ended:");
  for (const auto& [where, count] : waiting) {
    absl::StrAppend(&why, " ", count, " at ",
                    where.first == State::kInBlock ? "the barrier"
                                                   : "the operation of a warp",
                    " of line ", where.second, ";");
  }
  return why;
}

}  // namespace

std::string RunBlock(const std::function<void()>& kernel, Order& order) {
  return TheBlock().Run(kernel, order);
}

void MeetBlock(Where where) { TheBlock().MeetBlock(where.line); }

const WarpValues& MeetWarp(unsigned mask, uint64_t mine, Where where) {
  return TheBlock().MeetWarp(mask, mine, where.line);
}

void RequireLane(unsigned mask, unsigned lane, Where where) {
  if ((mask >> lane & 1u) != 0) return;
  TheBlock().Fail(absl::StrCat("line ", where.line, ": a lane reads from lane ",
                               lane, ", which is not in the mask"));
}

unsigned Lane() { return static_cast<unsigned>(TheBlock().current() % kWarp); }

}  // namespace skerry::compression::cuda::emulation
