#include "worker/daemon/trainer_seam.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "checkpoint/model_files.h"
#include "job/convert/job_spec.h"
#include "worker/daemon/program_model.h"

namespace skerry::worker {
namespace {

void SetRange(const ElementRange& range, v1::ElementRange* out) {
  out->set_begin(range.begin);
  out->set_end(range.end);
}

template <typename Repeated>
void SetRanges(const data::RangeSet& ranges, Repeated* out) {
  for (const data::SampleRange& range : ranges.ranges()) {
    v1::SampleRange* one = out->Add();
    one->set_begin(range.begin);
    one->set_end(range.end);
  }
}

// Numbers that are not finite are of no use to anybody, and no message has
// them: such a loss counts as none, and such a metric is left out.
RunReport ReportOf(const v1::RunReply& reply) {
  const bool measured = !reply.no_loss() && std::isfinite(reply.loss());
  RunReport report{.samples = reply.samples(),
                   .inner_steps = reply.inner_steps(),
                   .loss = measured ? reply.loss() : 0,
                   .gradient_norm = reply.gradient_norm(),
                   .compute_s = reply.compute_s(),
                   .no_loss = !measured};
  for (const auto& [name, value] : reply.metrics()) {
    if (report.metrics.size() == protocol::kMetricsMax) break;
    if (!protocol::IsMetricName(name) || !std::isfinite(value)) continue;
    report.metrics.emplace(name, value);
  }
  return report;
}

absl::Status NoTrainer() {
  return absl::AbortedError("there is no trainer at the moment");
}

// Gives the seat what `convert` makes of the reply, unless `current` is gone.
template <typename Reply, typename Result, typename Convert>
auto Forward(const SeatAnswers& answers, const std::shared_ptr<char>& current,
             Done<Result> done, Convert convert) {
  return [answer = answers.Wrap(std::move(done)),
          current = std::weak_ptr<char>(current),
          convert](absl::StatusOr<Reply> reply) mutable {
    if (current.expired()) return;
    if (reply.ok()) {
      answer(convert(*std::move(reply)));
    } else {
      answer(Result(reply.status()));
    }
  };
}

template <typename Reply>
absl::Status Ok(const Reply&) {
  return absl::OkStatus();
}

}  // namespace

TrainerSeam::TrainerSeam(TrainerSeamOptions options, const SeatAnswers& answers,
                         InnerStore& inner, JobListener& listener)
    : options_(std::move(options)),
      answers_(answers),
      inner_(inner),
      listener_(listener),
      rendezvous_(options_.island, answers.loop()) {}

TrainerSeam::~TrainerSeam() = default;

void TrainerSeam::Start(const TrainerStart& start) {
  if (!options_.spec.model.program.has_value()) {
    return Launch(start, options_.trainer_command);
  }
  options_.programs.Find(
      *options_.spec.model.program,
      [this, start, current = std::weak_ptr<char>(current_)](
          const absl::StatusOr<std::string>& file) {
        if (current.expired()) return;
        if (!file.ok()) return listener_.OnTrainerFailed(file.status());
        std::vector<std::string> command = options_.attach_command;
        command.push_back(absl::StrCat("--program=", *file));
        command.push_back(absl::StrCat("--log-directory=", options_.folder));
        Launch(start, std::move(command));
      });
}

void TrainerSeam::Launch(const TrainerStart& start,
                         std::vector<std::string> command) {
  TrainerHostOptions options;
  options.command = std::move(command);
  options.run_directory = options_.run_directory;
  options.name = absl::StrCat(options_.name, "-", start.number);
  job::JobSpecToProto(options_.spec, &options.job);
  options.job.mutable_data()->set_path(start.data_folder);
  options.data_verified = start.data_verified;
  process_ = std::make_unique<TrainerHost>(
      std::move(options), answers_.loop(),
      [this](const v1::DescribeReply& reply) { OnReady(reply); },
      [this](const absl::Status& why) { listener_.OnTrainerFailed(why); },
      [this] { listener_.OnTrainerAnswer(); });
}

void TrainerSeam::OnReady(const v1::DescribeReply& reply) {
  ReadyTrainer ready{.description = DescriptionOf(reply),
                     .pid = process_->pid(),
                     .implementation = reply.implementation()};
  if (options_.spec.model.program.has_value()) {
    absl::StatusOr<checkpoint::ProgramModel> model = ProgramModelOf(reply);
    if (!model.ok()) return Fail(model.status());
    ready.program =
        std::make_shared<checkpoint::ProgramModel>(*std::move(model));
  }
  Attach(process_.get());
  listener_.OnTrainerReady(ready);
}

void TrainerSeam::Ask(
    absl::AnyInvocable<void(absl::StatusOr<TrainerProgress>) &&> done) {
  if (process_ != nullptr) return process_->AskProgress(std::move(done));
  std::move(done)(NoTrainer());
}

void TrainerSeam::Fail(const absl::Status& why) {
  if (process_ != nullptr) process_->OnCallFailed(why);
}

void TrainerSeam::Drop() {
  Attach(nullptr);
  if (process_ == nullptr) return;
  // Whoever drops it may be called by it.
  process_->Silence();
  answers_.loop().Post(
      [process = std::shared_ptr<TrainerHost>(std::move(process_))] {});
}

void TrainerSeam::Attach(TrainerHost* host) {
  rendezvous_.Cancel();
  host_ = host;
  owners_.clear();
  current_ = std::make_shared<char>();
}

template <typename Result>
void TrainerSeam::AnswerLater(Result result, Done<Result> done) {
  answers_.loop().Post([result = std::move(result),
                        answer = answers_.Wrap(std::move(done))]() mutable {
    answer(std::move(result));
  });
}

void TrainerSeam::JoinGroup(const TrainerGroup& group,
                            Done<absl::Status> done) {
  if (host_ == nullptr) return AnswerLater(NoTrainer(), std::move(done));
  owners_ = group.owners;
  if (group.size == 1) return Join(group, "", std::move(done));
  rendezvous_.Find(
      group, head_, host_->client(),
      [this, group, current = std::weak_ptr<char>(current_),
       done = std::move(done)](absl::StatusOr<std::string> bootstrap) mutable {
        if (current.expired()) return;
        if (!bootstrap.ok()) {
          answers_.Wrap(std::move(done))(bootstrap.status());
        } else {
          Join(group, *std::move(bootstrap), std::move(done));
        }
      });
}

void TrainerSeam::Join(const TrainerGroup& group, std::string bootstrap,
                       Done<absl::Status> done) {
  v1::GroupRequest request;
  if (!bootstrap.empty()) request.set_address(options_.island.address);
  request.set_bootstrap(std::move(bootstrap));
  request.set_rank(group.rank);
  request.set_size(group.size);
  // A peer that died or was ended is known sooner, from the coordinator.
  request.set_timeout_ms(static_cast<uint32_t>(
      absl::ToInt64Milliseconds(listener_.GroupTimeout())));
  host_->client().Group(
      std::move(request),
      Forward<v1::GroupReply>(answers_, current_, std::move(done),
                              Ok<v1::GroupReply>));
}

void TrainerSeam::StartRun(const data::RangeSet& ranges,
                           const data::RangeSet& upcoming,
                           uint64_t replica_batch_samples,
                           Done<absl::StatusOr<RunReport>> done) {
  if (host_ == nullptr) {
    return AnswerLater(absl::StatusOr<RunReport>(NoTrainer()), std::move(done));
  }
  v1::RunRequest request;
  SetRanges(ranges, request.mutable_ranges());
  SetRanges(upcoming, request.mutable_upcoming());
  request.set_replica_batch_samples(replica_batch_samples);
  host_->client().Run(
      std::move(request),
      Forward<v1::RunReply>(answers_, current_, std::move(done),
                            [](const v1::RunReply& reply) {
                              return absl::StatusOr<RunReport>(ReportOf(reply));
                            }));
}

void TrainerSeam::Cancel() {
  rendezvous_.Cancel();
  if (host_ != nullptr) {
    host_->client().Pause([](absl::StatusOr<v1::PauseReply>) {});
  }
}

void TrainerSeam::Snapshot(const ElementRange& range, Done<absl::Status> done) {
  if (host_ == nullptr) return AnswerLater(NoTrainer(), std::move(done));
  v1::SnapshotRequest request;
  SetRange(range, request.add_ranges());
  host_->client().Snapshot(
      std::move(request),
      Forward<v1::SnapshotReply>(answers_, current_, std::move(done),
                                 Ok<v1::SnapshotReply>));
}

void TrainerSeam::Load(const ElementRange& range, Done<absl::Status> done) {
  if (host_ == nullptr) return AnswerLater(NoTrainer(), std::move(done));
  v1::LoadRequest request;
  SetRange(range, request.add_ranges());
  for (const std::vector<ElementRange>& owners : owners_) {
    // The request names the owners of the fragment that `range` is a part of.
    if (owners.size() < 2 ||
        std::find(owners.begin(), owners.end(), range) == owners.end()) {
      continue;
    }
    for (size_t rank = 0; rank < owners.size(); ++rank) {
      v1::RankRange* owner = request.add_owners();
      SetRange(owners[rank], owner->mutable_range());
      owner->set_rank(static_cast<uint32_t>(rank));
    }
  }
  host_->client().Load(
      std::move(request),
      Forward<v1::LoadReply>(answers_, current_, std::move(done),
                             Ok<v1::LoadReply>));
}

void TrainerSeam::Evaluate(uint64_t samples_max,
                           Done<absl::StatusOr<EvaluationReport>> done) {
  if (host_ == nullptr) {
    return AnswerLater(absl::StatusOr<EvaluationReport>(NoTrainer()),
                       std::move(done));
  }
  v1::EvaluateRequest request;
  request.set_samples_max(samples_max);
  host_->client().Evaluate(
      std::move(request),
      Forward<v1::EvaluateReply>(
          answers_, current_, std::move(done),
          [](const v1::EvaluateReply& reply) {
            return absl::StatusOr<EvaluationReport>(EvaluationReport{
                .loss = reply.loss(), .samples = reply.samples()});
          }));
}

void TrainerSeam::Generate(const GenerateRequest& request,
                           Done<absl::StatusOr<std::string>> done) {
  if (host_ == nullptr) {
    return AnswerLater(absl::StatusOr<std::string>(NoTrainer()),
                       std::move(done));
  }
  v1::GenerateRequest out;
  out.set_prompt(request.prompt);
  out.set_tokens(request.tokens);
  out.set_temperature(request.temperature);
  out.set_seed(request.seed);
  host_->client().Generate(
      std::move(out), Forward<v1::GenerateReply>(
                          answers_, current_, std::move(done),
                          [](const v1::GenerateReply& reply) {
                            return absl::StatusOr<std::string>(reply.text());
                          }));
}

void TrainerSeam::SaveInner(const InnerLabel& label, Done<absl::Status> done) {
  if (host_ == nullptr) return AnswerLater(NoTrainer(), std::move(done));
  v1::SaveInnerRequest request;
  request.set_path(inner_.next_path());
  request.set_sequence(label.sequence);
  request.set_layout_hash(label.layout_hash);
  host_->client().SaveInner(
      std::move(request),
      Forward<v1::SaveInnerReply>(
          answers_, current_, std::move(done),
          [this, sequence = label.sequence](const v1::SaveInnerReply&) {
            inner_.Keep(sequence);
            return absl::OkStatus();
          }));
}

void TrainerSeam::LoadInner(uint64_t layout_hash,
                            Done<absl::StatusOr<InnerProgress>> done) {
  absl::Status none = absl::OkStatus();
  if (!inner_.is_there()) none = absl::NotFoundError(inner_.why_none());
  if (host_ == nullptr) none = NoTrainer();
  if (!none.ok()) {
    return AnswerLater(absl::StatusOr<InnerProgress>(none), std::move(done));
  }
  v1::LoadInnerRequest request;
  request.set_path(inner_.path());
  request.set_layout_hash(layout_hash);
  host_->client().LoadInner(
      std::move(request),
      Forward<v1::LoadInnerReply>(answers_, current_, std::move(done),
                                  [](const v1::LoadInnerReply& reply) {
                                    return absl::StatusOr<InnerProgress>(
                                        InnerProgress{reply.sequence(),
                                                      reply.steps()});
                                  }));
}

TrainerMemory TrainerSeam::memory() {
  SKERRY_CHECK(host_ != nullptr);
  const std::shared_ptr<runtime::SharedMemory>& memory = host_->memory();
  const std::span<std::byte> bytes = memory->bytes();
  return {
      memory,
      {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}};
}

void TrainerSeam::Restart(const absl::Status& why) {
  listener_.OnTrainerRestart(why);
}

}  // namespace skerry::worker
