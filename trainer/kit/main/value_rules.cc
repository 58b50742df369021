#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "trainer/kit/main/rules.h"

namespace skerry::trainer::kit {
namespace {

using Stub = TriedTrainer::Stub;
using Code = absl::StatusCode;

absl::Status Counts(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  const uint64_t batch = subject.batch_samples;
  // A step has a sample for each rank.
  const uint64_t last = std::min<uint64_t>(
      batch, std::max<uint64_t>((batch + 1) / 2,
                                ready.description.capabilities().ranks()));
  const uint64_t samples = 2 * batch + last;
  const uint64_t steps = (samples + batch - 1) / batch;
  v1::RunReply reply;
  SKERRY_RETURN_IF_ERROR(ready.trainer->Run(3, 3 + samples, batch, &reply));
  if (reply.samples() != samples || reply.inner_steps() != steps) {
    return Broken(absl::StrCat("a Run of ", samples, " samples in ", steps,
                               " steps counted ", reply.samples(), " in ",
                               reply.inner_steps()));
  }
  if (!reply.no_loss() && !std::isfinite(reply.loss())) {
    return Broken("the loss is not finite");
  }
  v1::ProgressReply progress;
  const absl::Status asked =
      ready.trainer->Call(&Stub::Progress, v1::ProgressRequest(), progress);
  if (absl::IsUnimplemented(asked)) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(asked);
  if (progress.steps() == steps) return absl::OkStatus();
  return Broken(
      absl::StrCat("Progress says ", progress.steps(), " steps of ", steps));
}

absl::Status PartLoads(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  TriedTrainer& trainer = *ready.trainer;
  const uint64_t batch = subject.batch_samples;
  SKERRY_ASSIGN_OR_RETURN(const auto initial, trainer.Values());
  SKERRY_RETURN_IF_ERROR(trainer.Run(0, 2 * batch, batch));
  SKERRY_ASSIGN_OR_RETURN(std::vector<float> mixed, trainer.Values());
  if (mixed == initial) return Broken("two steps change no value");
  const uint64_t half = initial.size() / 2;
  std::copy(initial.begin(), initial.end(), trainer.state().begin());
  SKERRY_RETURN_IF_ERROR(trainer.Load({half, initial.size()}));
  std::copy(initial.begin() + half, initial.end(), mixed.begin() + half);
  SKERRY_ASSIGN_OR_RETURN(std::vector<float> live, trainer.Values());
  if (live != mixed) {
    return Broken(
        "the values are not those of the part that was loaded and of "
        "the rest");
  }
  std::copy(initial.begin(), initial.end(), trainer.state().begin());
  SKERRY_RETURN_IF_ERROR(trainer.Load({0, initial.size()}));
  SKERRY_ASSIGN_OR_RETURN(live, trainer.Values());
  return live == initial ? absl::OkStatus()
                         : Broken("what was loaded is not what is there");
}

absl::Status WriteSets(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  TriedTrainer& trainer = *ready.trainer;
  SKERRY_ASSIGN_OR_RETURN(const auto values, trainer.Values());
  const uint64_t count = values.size();
  constexpr float kUntouched = 1234.5f;
  for (const ElementRange range :
       {ElementRange{count / 3, count / 3 + 1}, ElementRange{count / 2, count},
        ElementRange{0, std::max<uint64_t>(count / 3, 1)}}) {
    std::fill(trainer.state().begin(), trainer.state().end(), kUntouched);
    SKERRY_RETURN_IF_ERROR(trainer.Snapshot(range));
    for (uint64_t i = 0; i < count; ++i) {
      const bool inside = range.begin <= i && i < range.end;
      if (trainer.state()[i] == (inside ? values[i] : kUntouched)) continue;
      return Broken(absl::StrCat("a Snapshot of [", range.begin, ", ",
                                 range.end, ") left element ", i, " wrong"));
    }
  }
  return absl::OkStatus();
}

absl::Status RefusesWrongRuns(TriedTrainer& trainer) {
  v1::RunRequest good;
  good.add_ranges()->set_end(8);
  good.set_replica_batch_samples(8);
  std::vector<v1::RunRequest> wrong(4, good);
  wrong[0].clear_ranges();
  wrong[1].mutable_ranges(0)->set_begin(8);
  wrong[2].mutable_ranges(0)->set_begin(9);
  wrong[3].set_replica_batch_samples(0);
  v1::RunReply reply;
  for (size_t i = 0; i < wrong.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(Expect(trainer.Call(&Stub::Run, wrong[i], reply),
                                  Code::kInvalidArgument,
                                  absl::StrCat("wrong Run ", i)));
  }
  return absl::OkStatus();
}

absl::Status WrongRequests(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  TriedTrainer& trainer = *ready.trainer;
  SKERRY_ASSIGN_OR_RETURN(const auto before, trainer.Values());
  const uint64_t count = before.size();
  SKERRY_RETURN_IF_ERROR(RefusesWrongRuns(trainer));
  std::fill(trainer.state().begin(), trainer.state().end(), 7.f);
  for (const ElementRange range :
       {ElementRange{0, count + 1}, ElementRange{1, 1}, ElementRange{1, 0},
        ElementRange{count, ~uint64_t{0}}}) {
    const std::string name =
        absl::StrCat("of [", range.begin, ", ", range.end, ")");
    SKERRY_RETURN_IF_ERROR(
        Expect(trainer.Load(range), Code::kInvalidArgument, "a Load " + name));
    SKERRY_RETURN_IF_ERROR(Expect(
        trainer.Snapshot(range), Code::kInvalidArgument, "a Snapshot " + name));
  }
  if (!std::all_of(trainer.state().begin(), trainer.state().end(),
                   [](float value) { return value == 7.f; })) {
    return Broken("a Snapshot that is refused writes");
  }
  SKERRY_ASSIGN_OR_RETURN(const auto after, trainer.Values());
  return after == before ? absl::OkStatus()
                         : Broken("a refused request changes values");
}

struct Trained {
  std::vector<float> initial;
  std::vector<float> values;
};

// Two rounds with a load between them, as a worker does it. They begin at
// `initial`, or else at the trainer's own initial values, which may be others
// in each process.
absl::StatusOr<Trained> Train(const Subject& subject, bool evaluates,
                              const std::vector<float>* initial = nullptr) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  TriedTrainer& trainer = *ready.trainer;
  const uint64_t batch = subject.batch_samples;
  Trained trained;
  SKERRY_ASSIGN_OR_RETURN(trained.initial, trainer.Values());
  if (initial != nullptr) trained.initial = *initial;
  std::copy(trained.initial.begin(), trained.initial.end(),
            trainer.state().begin());
  SKERRY_RETURN_IF_ERROR(trainer.Load({0, trainer.state().size()}));
  for (uint64_t round = 0; round < 2; ++round) {
    SKERRY_RETURN_IF_ERROR(
        trainer.Run(round * 3 * batch, (round + 1) * 3 * batch, batch));
    SKERRY_RETURN_IF_ERROR(trainer.Snapshot({0, trainer.state().size()}));
    SKERRY_RETURN_IF_ERROR(trainer.Load({0, trainer.state().size()}));
    if (!evaluates) continue;
    v1::EvaluateRequest request;
    request.set_samples_max(8);
    v1::EvaluateReply reply;
    SKERRY_RETURN_IF_ERROR(trainer.Call(&Stub::Evaluate, request, reply));
    if (!std::isfinite(reply.loss()) || reply.samples() == 0) {
      return Broken("an evaluation has no samples or no loss");
    }
  }
  SKERRY_ASSIGN_OR_RETURN(trained.values, trainer.Values());
  return trained;
}

absl::Status EqualBits(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Trained one, Train(subject, false));
  SKERRY_ASSIGN_OR_RETURN(const Trained two,
                          Train(subject, false, &one.initial));
  return one.values == two.values
             ? absl::OkStatus()
             : Broken("two processes have different values");
}

absl::Status EvaluateLeavesNoTrace(const Subject& subject) {
  {
    SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
    if (!ready.description.capabilities().evaluates()) {
      return DoesNotApply("it does not evaluate");
    }
    if (ready.description.validation_samples() == 0) {
      return DoesNotApply("it has no validation samples");
    }
  }
  SKERRY_ASSIGN_OR_RETURN(const Trained with, Train(subject, true));
  SKERRY_ASSIGN_OR_RETURN(const Trained without,
                          Train(subject, false, &with.initial));
  return with.values == without.values
             ? absl::OkStatus()
             : Broken(
                   "a run with evaluations has other values than one "
                   "without");
}

// A file of the kit, removed at the end.
class InnerPath {
 public:
  InnerPath() : path_(absl::StrCat("/tmp/skerry-kit-inner-", getpid())) {}
  ~InnerPath() { unlink(path_.c_str()); }
  const std::string& get() const { return path_; }

 private:
  const std::string path_;
};

absl::Status LoadInner(TriedTrainer& trainer, const std::string& path,
                       uint64_t layout_hash, v1::LoadInnerReply* reply) {
  v1::LoadInnerRequest request;
  request.set_path(path);
  request.set_layout_hash(layout_hash);
  return trainer.Call(&Stub::LoadInner, request, *reply);
}

// Files that are no inner state of this trainer change nothing.
absl::Status RefusesWrongInner(TriedTrainer& trainer, const std::string& path,
                               uint64_t layout_hash) {
  v1::LoadInnerReply reply;
  SKERRY_RETURN_IF_ERROR(
      Expect(LoadInner(trainer, path, layout_hash + 1, &reply),
             Code::kInvalidArgument, "an inner state of another layout"));
  SKERRY_RETURN_IF_ERROR(
      Expect(LoadInner(trainer, path + ".none", layout_hash, &reply),
             Code::kInvalidArgument, "an inner state that is not there"));
  if (truncate(path.c_str(), 20) != 0) return Broken("it wrote no file");
  return Expect(LoadInner(trainer, path, layout_hash, &reply),
                Code::kInvalidArgument, "an inner state that is cut off");
}

absl::Status InnerGoesOn(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready one, StartReady(subject));
  if (!one.description.capabilities().saves_inner()) {
    return DoesNotApply("it saves no inner state");
  }
  const uint64_t layout = one.description.layout_hash();
  const uint64_t batch = subject.batch_samples;
  const InnerPath path;
  SKERRY_RETURN_IF_ERROR(one.trainer->Run(0, 3 * batch, batch));
  v1::SaveInnerRequest request;
  request.set_path(path.get());
  request.set_sequence(7);
  request.set_layout_hash(layout);
  v1::SaveInnerReply saved;
  SKERRY_RETURN_IF_ERROR(one.trainer->Call(&Stub::SaveInner, request, saved));
  SKERRY_ASSIGN_OR_RETURN(const auto middle, one.trainer->Values());
  SKERRY_RETURN_IF_ERROR(one.trainer->Run(3 * batch, 6 * batch, batch));
  SKERRY_ASSIGN_OR_RETURN(const auto undisturbed, one.trainer->Values());

  SKERRY_ASSIGN_OR_RETURN(const Ready other, StartReady(subject));
  std::copy(middle.begin(), middle.end(), other.trainer->state().begin());
  SKERRY_RETURN_IF_ERROR(other.trainer->Load({0, middle.size()}));
  v1::LoadInnerReply loaded;
  SKERRY_RETURN_IF_ERROR(
      LoadInner(*other.trainer, path.get(), layout, &loaded));
  if (loaded.sequence() != 7 || loaded.steps() != 3) {
    return Broken(absl::StrCat("3 steps saved at sequence 7 are loaded as ",
                               loaded.steps(), " at ", loaded.sequence()));
  }
  SKERRY_RETURN_IF_ERROR(RefusesWrongInner(*other.trainer, path.get(), layout));
  SKERRY_RETURN_IF_ERROR(other.trainer->Run(3 * batch, 6 * batch, batch));
  SKERRY_ASSIGN_OR_RETURN(const auto resumed, other.trainer->Values());
  return resumed == undisturbed
             ? absl::OkStatus()
             : Broken(
                   "a process that goes on with the inner state of another "
                   "has other values than that one");
}

const Rule kRules[] = {
    {"a Run counts its samples and steps", Counts},
    {"a Load of a part leaves the rest", PartLoads},
    {"a Snapshot writes what was asked", WriteSets},
    {"wrong requests are refused and change nothing", WrongRequests},
    {"two processes have equal bits", EqualBits},
    {"Evaluate leaves no trace", EvaluateLeavesNoTrace},
    {"an inner state goes on in another process", InnerGoesOn}};

}  // namespace

std::span<const Rule> ValueRules() { return kRules; }

}  // namespace skerry::trainer::kit
