#include "worker/daemon/starting_base.h"

#include <span>
#include <utility>

#include "base/status.h"
#include "checkpoint/model_files.h"
#include "checkpoint/starting_point.h"
#include "checkpoint/tensor_table.h"
#include "planner/spans.h"
#include "worker/core/fold.h"
#include "worker/core/job_settings.h"

namespace skerry::worker {

absl::StatusOr<StartingBase> ReadStartingBase(const job::JobSpec& job,
                                              runtime::BlobStores& places,
                                              runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const JobSettings settings, JobSettingsOf(job));
  const job::JobSpec::Checkpoint& from = *job.model.checkpoint;
  SKERRY_ASSIGN_OR_RETURN(
      const checkpoint::ModelState state,
      checkpoint::ReadStartingPoint({from.path, from.name}, from.sha256,
                                    job.model.config_json, places, files));
  StartingBase base;
  SKERRY_ASSIGN_OR_RETURN(base.tensors, checkpoint::TensorsOf(state));
  SKERRY_ASSIGN_OR_RETURN(
      const auto cut,
      planner::CutFragments(state.anchor.size(), settings.fragments,
                            settings.spans,
                            checkpoint::AverageBeginOf(base.tensors)));
  for (const std::vector<planner::SpanRange>& spans : cut) {
    StartingBase::File& one = base.files.emplace_back();
    one.file.kind = PieceKey::Kind::kBase;
    one.file.fragment = static_cast<uint32_t>(base.files.size() - 1);
    for (size_t i = 0; i < spans.size(); ++i) {
      const size_t size = spans[i].end - spans[i].begin;
      std::span<const float> momentum(state.outer_momentum);
      if (!momentum.empty()) momentum = momentum.subspan(spans[i].begin, size);
      SpanState span = InitialState(
          settings.outer, std::span(state.anchor).subspan(spans[i].begin, size),
          momentum);
      one.file.pieces.push_back({static_cast<uint32_t>(i), span.hash});
      one.contents.push_back(SharedBytes(std::move(span.values)));
    }
  }
  return base;
}

}  // namespace skerry::worker
