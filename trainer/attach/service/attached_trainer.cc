#include "trainer/attach/service/attached_trainer.h"

#include <errno.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "trainer/attach/convert/job_json.h"
#include "trainer/attach/convert/lines.h"
#include "trainer/attach/core/rank_answers.h"
#include "trainer/attach/core/rank_description.h"
#include "trainer/convert/messages.h"
#include "trainer/core/element_ranges.h"
#include "trainer/core/inner_state.h"
#include "trainer/core/step_plan.h"

namespace skerry::trainer::attach {
namespace {

void NoSteps(uint64_t) {}
bool NeverStop() { return false; }

// For a call that nobody stops and that may take long: while it is waited for,
// the worker hears that it goes on. The ranks have patience of their own.
auto GoesOn(InnerFile& file) {
  return [&file] {
    file.OnPiece();
    return false;
  };
}

absl::StatusOr<std::vector<std::string>> CommandOf(
    const AttachOptions& options) {
  if (access(options.program.c_str(), R_OK) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot read the program ", options.program));
  }
  if (access(options.program.c_str(), X_OK) != 0) {
    return std::vector<std::string>{options.python, options.program};
  }
  // With a slash nothing is looked up in PATH.
  return std::vector<std::string>{options.program.find('/') == std::string::npos
                                      ? "./" + options.program
                                      : options.program};
}

// The ranks' bodies as messages, in order. Errors: Internal.
template <typename Reply>
absl::StatusOr<std::vector<Reply>> Replies(
    const std::vector<std::string>& bodies) {
  std::vector<Reply> replies(bodies.size());
  for (size_t rank = 0; rank < bodies.size(); ++rank) {
    const absl::Status parsed = ParseBody(bodies[rank], replies[rank]);
    if (parsed.ok()) continue;
    return absl::InternalError(
        absl::StrCat("rank ", rank, " sent a body that is no ",
                     replies[rank].GetTypeName(), ": ", parsed.message()));
  }
  return replies;
}

absl::StatusOr<Description> Describe(RankHost& host, const std::string& memory,
                                     uint64_t data_samples,
                                     StopRequested stop) {
  v1::DescribeRequest request;
  request.set_shared_memory(memory);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> bodies,
                          host.Call(Call::kDescribe, request, stop, NoSteps));
  SKERRY_ASSIGN_OR_RETURN(const auto replies,
                          Replies<v1::DescribeReply>(bodies));
  std::vector<Description> descriptions;
  for (const v1::DescribeReply& reply : replies) {
    SKERRY_ASSIGN_OR_RETURN(Description one, DescriptionFromProto(reply));
    descriptions.push_back(std::move(one));
  }
  return MergeDescriptions(descriptions, data_samples);
}

absl::StatusOr<RunResult> RunOf(const RunRequest& request,
                                const std::vector<std::string>& bodies) {
  SKERRY_ASSIGN_OR_RETURN(const auto replies, Replies<v1::RunReply>(bodies));
  std::vector<RunResult> results;
  for (const v1::RunReply& reply : replies) {
    results.push_back(RunResultFromProto(reply));
  }
  return MergeRuns(request, results);
}

absl::StatusOr<EvaluateResult> EvaluationOf(
    const std::vector<std::string>& bodies) {
  SKERRY_ASSIGN_OR_RETURN(const auto replies,
                          Replies<v1::EvaluateReply>(bodies));
  std::vector<EvaluateResult> results;
  for (const v1::EvaluateReply& reply : replies) {
    results.push_back({reply.loss(), reply.samples()});
  }
  return MergeEvaluations(results);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AttachedTrainer>> AttachedTrainer::Start(
    const AttachOptions& options, const v1::JobSpec& job, StopRequested stop) {
  RankHostOptions host_options = {.argv = {},
                                  .ranks = options.ranks,
                                  .log_directory = options.log_directory,
                                  .job_json = "",
                                  .times = options.times,
                                  .now = options.now};
  SKERRY_ASSIGN_OR_RETURN(host_options.job_json, JobJson(job));
  SKERRY_ASSIGN_OR_RETURN(host_options.argv, CommandOf(options));
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<RankHost> host,
                          RankHost::Start(std::move(host_options), stop));
  SKERRY_ASSIGN_OR_RETURN(Description description,
                          Describe(*host, "", job.data().samples(), stop));
  return std::unique_ptr<AttachedTrainer>(
      new AttachedTrainer(std::move(host), std::move(description)));
}

AttachedTrainer::~AttachedTrainer() { host_->Exit(); }

absl::Status AttachedTrainer::UseMemory(const std::string& path,
                                        std::span<float> state) {
  SKERRY_ASSIGN_OR_RETURN(
      const Description again,
      Describe(*host_, path, description_.epoch_samples, NeverStop));
  if (again.element_count != description_.element_count ||
      again.layout_hash != description_.layout_hash) {
    return host_->Refuse(absl::InternalError(
        "the program described another model than at first"));
  }
  if (description_.initial_hash != 0) return absl::OkStatus();
  const ElementRange all[] = {{0, description_.element_count}};
  SKERRY_RETURN_IF_ERROR(Snapshot(all, state));
  description_.initial_hash =
      Hash64Of(std::span<const float>(state.first(description_.element_count)));
  return absl::OkStatus();
}

absl::StatusOr<RunResult> AttachedTrainer::Run(const RunRequest& request,
                                               StopRequested stop) {
  SKERRY_RETURN_IF_ERROR(ValidateRunRequest(request));
  v1::RunRequest message;
  RunRequestToProto(request, message);
  // Notes come late and say what they like: a step is counted when it is noted,
  // but no more than there are, and the rest at the end.
  const uint64_t before = host_->steps();
  const uint64_t steps_max = StepCount(request);
  uint64_t counted = 0;
  const auto count_to = [&](uint64_t steps) {
    for (; counted < std::min(steps, steps_max); ++counted) StepDone();
  };
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<std::string> bodies,
      host_->Call(Call::kRun, message, stop,
                  [&](uint64_t steps) { count_to(steps - before); }));
  absl::StatusOr<RunResult> merged = RunOf(request, bodies);
  if (!merged.ok()) return host_->Refuse(merged.status());
  count_to(steps_max);
  return merged;
}

absl::Status AttachedTrainer::Snapshot(std::span<const ElementRange> ranges,
                                       std::span<float> state) {
  SKERRY_RETURN_IF_ERROR(ValidateRanges(ranges, description_.element_count));
  v1::SnapshotRequest message;
  ElementRangesToProto(ranges, *message.mutable_ranges());
  return host_->Call(Call::kSnapshot, message, NeverStop, NoSteps).status();
}

absl::Status AttachedTrainer::Load(std::span<const ElementRange> ranges,
                                   std::span<const RankRange> owners,
                                   std::span<const float> state) {
  if (!owners.empty()) {
    SKERRY_RETURN_IF_ERROR(ValidateOwners(
        owners, ranges, description_.element_count, /*rank=*/0, /*size=*/1));
  }
  SKERRY_RETURN_IF_ERROR(ValidateRanges(ranges, description_.element_count));
  v1::LoadRequest message;
  ElementRangesToProto(ranges, *message.mutable_ranges());
  return host_->Call(Call::kLoad, message, NeverStop, NoSteps).status();
}

absl::Status AttachedTrainer::JoinGroup(Collective* island) {
  if (island == nullptr) return absl::OkStatus();
  return absl::UnimplementedError("a training program joins no group");
}

absl::StatusOr<uint64_t> AttachedTrainer::SaveInner(const InnerLabel& label,
                                                    InnerFile& file) {
  if (!description_.capabilities.saves_inner) {
    return absl::UnimplementedError("the program saves no inner state");
  }
  // Each rank writes its part of it.
  SKERRY_RETURN_IF_ERROR(file.Write({}));
  v1::SaveInnerRequest message;
  message.set_path(file.path());
  message.set_sequence(label.sequence);
  message.set_layout_hash(label.layout_hash);
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<std::string> bodies,
      host_->Call(Call::kSaveInner, message, GoesOn(file), NoSteps));
  const auto replies = Replies<v1::SaveInnerReply>(bodies);
  if (!replies.ok()) return host_->Refuse(replies.status());
  for (const v1::SaveInnerReply& reply : *replies) {
    if (reply.bytes() == replies->front().bytes()) continue;
    return absl::InvalidArgumentError(
        "the ranks have inner states of different sizes");
  }
  return replies->front().bytes();
}

absl::StatusOr<InnerProgress> AttachedTrainer::LoadInner(uint64_t layout_hash,
                                                         InnerFile& file) {
  if (!description_.capabilities.saves_inner) {
    return absl::UnimplementedError("the program saves no inner state");
  }
  SKERRY_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, file.Read());
  SKERRY_RETURN_IF_ERROR(ParseInnerState(bytes, layout_hash).status());
  v1::LoadInnerRequest message;
  message.set_path(file.path());
  message.set_layout_hash(layout_hash);
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<std::string> bodies,
      host_->Call(Call::kLoadInner, message, GoesOn(file), NoSteps));
  const auto replies = Replies<v1::LoadInnerReply>(bodies);
  if (!replies.ok()) return host_->Refuse(replies.status());
  return InnerProgress{replies->front().sequence(), replies->front().steps()};
}

absl::StatusOr<EvaluateResult> AttachedTrainer::Evaluate(uint64_t samples_max,
                                                         StopRequested stop) {
  if (!description_.capabilities.evaluates) {
    return absl::UnimplementedError("the program has no evaluation");
  }
  v1::EvaluateRequest message;
  message.set_samples_max(samples_max);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> bodies,
                          host_->Call(Call::kEvaluate, message, stop, NoSteps));
  absl::StatusOr<EvaluateResult> merged = EvaluationOf(bodies);
  if (!merged.ok()) return host_->Refuse(merged.status());
  return merged;
}

absl::StatusOr<std::string> AttachedTrainer::Generate(
    const GenerateRequest& request, StopRequested stop) {
  if (!description_.capabilities.generates) {
    return absl::UnimplementedError("the program generates no text");
  }
  v1::GenerateRequest message;
  GenerateRequestToProto(request, message);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> bodies,
                          host_->Call(Call::kGenerate, message, stop, NoSteps));
  const auto replies = Replies<v1::GenerateReply>(bodies);
  if (!replies.ok()) return host_->Refuse(replies.status());
  return replies->front().text();
}

}  // namespace skerry::trainer::attach
