#include "model/spec/balanced_cut.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/spec/graph_cut.h"

namespace skerry::model {
namespace {

constexpr double kSlack = 1.01;
constexpr double kNever = std::numeric_limits<double>::infinity();

// The borders of stages are the begin, the cut positions and the end.
class Search {
 public:
  Search(const Graph& graph, int rows, int columns) {
    borders_ = CutPositions(graph);
    borders_.insert(borders_.begin(), 0);
    borders_.push_back(static_cast<int>(graph.operators.size()));
    double flops = 0;
    int done = 0;
    for (const int border : borders_) {
      for (; done < border; ++done) {
        const Work work =
            OperatorWork(graph, graph.operators[done], rows, columns);
        flops += work.forward_flops + work.backward_flops;
      }
      flops_before_.push_back(flops);
      double width = 0;
      for (const int value : ValuesCrossing(graph, border)) {
        width += graph.values[value].width;
      }
      sent_.push_back(width);
    }
  }

  std::vector<int> Find(int stages) const {
    const auto larger = [](double so_far, double stage, double) {
      return std::max(so_far, stage);
    };
    const double least = Solve(stages, larger).cost;
    const auto bytes = [&](double so_far, double stage, double sent) {
      return stage > kSlack * least ? kNever : so_far + sent;
    };
    return Solve(stages, bytes).cuts;
  }

 private:
  struct Answer {
    double cost = 0;
    std::vector<int> cuts;
  };

  // The least of fold(fold(0, first stage, what it sends), second stage, ...).
  template <typename Fold>
  Answer Solve(int stages, const Fold& fold) const {
    const size_t count = borders_.size();
    // cost[b] of the stages so far that end at border b, and the border before.
    std::vector<double> cost(count, kNever);
    cost[0] = 0;
    std::vector<std::vector<size_t>> from;
    for (int s = 0; s < stages; ++s) {
      std::vector<double> next(count, kNever);
      from.emplace_back(count, 0);
      for (size_t end = 1; end < count; ++end) {
        for (size_t begin = 0; begin < end; ++begin) {
          const double total =
              fold(cost[begin], flops_before_[end] - flops_before_[begin],
                   sent_[end]);
          if (total < next[end]) {
            next[end] = total;
            from.back()[end] = begin;
          }
        }
      }
      cost = std::move(next);
    }
    Answer answer;
    answer.cost = cost.back();
    SKERRY_CHECK(answer.cost < kNever);
    size_t end = count - 1;
    for (int s = stages - 1; s > 0; --s) {
      end = from[static_cast<size_t>(s)][end];
      answer.cuts.push_back(borders_[end]);
    }
    std::reverse(answer.cuts.begin(), answer.cuts.end());
    return answer;
  }

  std::vector<int> borders_;
  std::vector<double> flops_before_;  // each border
  std::vector<double> sent_;          // floats a token across it
};

}  // namespace

std::vector<int> BalancedCut(const Graph& graph, int stages, int rows,
                             int columns) {
  SKERRY_CHECK(stages >= 1 && rows > 0 && columns > 0);
  return Search(graph, rows, columns).Find(stages);
}

}  // namespace skerry::model
