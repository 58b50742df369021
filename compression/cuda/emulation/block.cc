#include "compression/cuda/emulation/block.h"

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
  explicit Thread(const std::function<void()>& body) : fiber(body) {}

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

  // Called in the thread that runs, whose number is current().
  void MeetBlock(int line);
  const WarpValues& MeetWarp(unsigned mask, uint64_t mine, int line);
  void Fail(std::string why);
  size_t current() const { return current_; }

 private:
  void Prepare();
  void RunThreads();
  void Wait(State state, int line);
  void GoOn();
  void ReleaseBlock();
  void ReleaseWarp(size_t index);
  void Ready(size_t index);
  size_t TakeReady();
  std::string WhyStuck() const;

  Fiber caller_;
  // What the fiber of each thread does.
  const std::function<void()> run_threads_ = [this] { RunThreads(); };
  const std::function<void()>* kernel_ = nullptr;
  Order* order_ = nullptr;
  // Kept from block to block; may be more than `size_`.
  std::vector<std::unique_ptr<Thread>> threads_;
  size_t size_ = 0;
  size_t current_ = 0;
  size_t ended_ = 0;
  size_t in_block_ = 0;
  std::vector<uint16_t> ready_;
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
  kernel_ = &kernel;
  order_ = &order;
  Prepare();
  current_ = TakeReady();
  caller_.SwitchTo(threads_[current_]->fiber);
  if (failure_.empty() && ended_ < size_) failure_ = WhyStuck();
  if (failure_.empty()) return {};
  threads_.clear();  // as they are in the middle of the kernel
  return std::exchange(failure_, {});
}

void Block::Prepare() {
  size_ = size_t{blockDim.x} * blockDim.y * blockDim.z;
  SKERRY_CHECK(size_ >= 1 && size_ <= kThreadsMax);
  while (threads_.size() < size_) {
    threads_.push_back(std::make_unique<Thread>(run_threads_));
  }
  ended_ = 0;
  in_block_ = 0;
  ready_.clear();
  for (size_t index = 0; index < size_; ++index) Ready(index);
}

// A thread of one block after the other.
void Block::RunThreads() {
  while (true) {
    (*kernel_)();
    ++ended_;
    Wait(State::kEnded, 0);
  }
}

void Block::Ready(size_t index) {
  threads_[index]->state = State::kReady;
  ready_.push_back(static_cast<uint16_t>(index));
}

// Whose turn it is.
size_t Block::TakeReady() {
  const size_t at = order_->Next(ready_.size());
  const size_t index = ready_[at];
  ready_.erase(ready_.begin() + static_cast<ptrdiff_t>(at));
  threadIdx = IndexOf(index);
  return index;
}

void Block::Wait(State state, int line) {
  Thread& thread = *threads_[current_];
  thread.state = state;
  thread.line = line;
  if (state == State::kInWarp) ReleaseWarp(current_);
  if (in_block_ > 0 && in_block_ + ended_ == size_) ReleaseBlock();
  GoOn();
}

// With a thread that is ready, or with the caller where there is none; returns
// when it is the turn of this thread.
void Block::GoOn() {
  Fiber& own = threads_[current_]->fiber;
  if (ready_.empty() || !failure_.empty()) {
    own.SwitchTo(caller_);
    return;
  }
  const size_t next = TakeReady();
  if (next == current_) return;
  current_ = next;
  own.SwitchTo(threads_[next]->fiber);
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
  GoOn();
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
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!waited_for(lane)) continue;
    if (first + lane >= size_) return;
    const Thread& other = *threads_[first + lane];
    if (other.state != State::kInWarp || other.mask != last.mask ||
        other.line != last.line) {
      return;
    }
  }
  WarpValues all{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (waited_for(lane)) all[lane] = threads_[first + lane]->brought;
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
