// bench/micro/in_turns.h
//
// Times work and the loops that it is compared with, in turns.
#ifndef SKERRY_BENCH_MICRO_IN_TURNS_H_
#define SKERRY_BENCH_MICRO_IN_TURNS_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace skerry::bench {

// A summary of many shares: the median, and the values that a tenth of them lie
// below and above.
struct Shares {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;
  // True when more shares would hardly change the median.
  bool settled = false;
};

// Requires: one or more.
Shares SharesOf(std::vector<double> shares);

// A share is the time of a loop divided by the time of the work right before or
// right after it. Both then see the same memory speed, which may halve from one
// minute to the next.
class InTurns {
 public:
  using Work = std::function<void()>;

  // What is timed may lie elsewhere in the next round, but is the same work.
  struct Round {
    Work work;
    std::vector<Work> loops;
    Work before = [] {};  // each of them, untimed
  };

  // Takes about so many turns, shared out among the loops. After two rounds,
  // loops that are clearly slower than the fastest are left out.
  void Take(size_t turns, const Round& round);

  // The shares of the fastest loop. Requires: a turn was taken.
  Shares OfFastest() const;
  // What the work took, turn by turn.
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  struct Loop {
    size_t index;
    std::vector<double> shares;
  };

  void Turn(const Round& round, bool work_first);
  void LeaveOutSlow();

  std::vector<Loop> loops_;
  std::vector<double> seconds_;
  size_t rounds_ = 0;
};

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_IN_TURNS_H_
