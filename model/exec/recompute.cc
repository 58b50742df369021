#include "model/exec/recompute.h"

namespace skerry::model {

std::vector<Stage> CutForRecompute(const Graph& graph, Recompute recompute) {
  const int body = BodySize(graph);
  std::vector<Stage> runs = {{0, body}};
  if (recompute == Recompute::kNothing) return runs;
  bool has_attention = false;
  int cut = kNone;  // the last good place since the run's attention
  for (int i = 0; i < body; ++i) {
    if (has_attention && ValuesCrossing(graph, i).size() == 1) cut = i;
    if (graph.operators[i].kind != OperatorKind::kAttention) continue;
    if (has_attention && cut != kNone) {
      runs.back().end = cut;
      runs.push_back({cut, body});
      cut = kNone;
    }
    has_attention = true;
  }
  return runs;
}

}  // namespace skerry::model
