// What a job reads from checkpoints on this worker, and saves as one.
#include <utility>

#include "base/status.h"
#include "runtime/log.h"
#include "worker/daemon/inner_source.h"
#include "worker/daemon/job_runtime.h"

namespace skerry::worker {
namespace {

// A checkpoint that the job starts from and that cannot be read is read again
// after this.
constexpr absl::Duration kServeAgainAfter = absl::Minutes(1);
// A checkpoint whose base could not be stored is read again after this, and a
// folder that could not take checkpoints is looked at again.
constexpr absl::Duration kReadAgainAfter = absl::Seconds(5);

}  // namespace

void JobRuntime::CheckFolder() {
  environment_.save.Run([this, &places = environment_.places,
                         &loop = environment_.loop, job = job_, spec = spec_,
                         worker = environment_.worker,
                         alive = std::weak_ptr<char>(alive_)]() mutable {
    absl::Status usable = CheckCheckpointFolder(job, spec, worker, places);
    loop.Post([this, usable = std::move(usable), alive = std::move(alive)] {
      if (!alive.expired()) OnFolder(usable);
    });
  });
}

void JobRuntime::OnFolder(const absl::Status& usable) {
  if (usable.message() != folder_error_) {
    folder_error_ = std::string(usable.message());
    if (!usable.ok()) {
      runtime::Log(runtime::Severity::kError, "worker.checkpoint.unusable",
                   {{"job", job_.value()}, {"cause", usable}});
    }
    status_changed_();
  }
  if (usable.ok()) return;
  environment_.loop.RunAt(environment_.loop.Now() + kReadAgainAfter,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (!alive.expired()) CheckFolder();
                          });
}

void JobRuntime::ReadInner() {
  const std::optional<InnerSource>& from =
      reads_base_ ? inner_of_base_ : inner_of_newest_;
  if (!from.has_value() || inner_.is_there()) return OnInner(absl::OkStatus());
  runtime::Log(
      runtime::Severity::kInfo, "worker.inner.read",
      {{"job", job_.value()}, {"path", from->place}, {"name", from->name}});
  inner_.Import(
      [from = *from, &places = environment_.places,
       &files = environment_.files](const std::string& path) {
        return FetchInner(from, path, places, files);
      },
      [this](const absl::Status& status) { OnInner(status); });
}

void JobRuntime::OnInner(const absl::Status& status) {
  if (!status.ok()) {
    // Whoever submitted the job can put it right. A job that has gone back by
    // itself, and one that is on its way, train without rather than not at all.
    const bool needed = reads_base_ && start_.restored().sha256.empty();
    if (needed && absl::IsResourceExhausted(status)) {
      return ReadCheckpointLater(status);
    }
    if (needed && !absl::IsNotFound(status)) {
      return ReadCheckpointAgain(Annotate(status, "model.checkpoint"));
    }
    inner_.set_why_none(std::string(status.message()));
  }
  if (reads_base_) return ReadCheckpoint();
  can_train_ = true;
  // Orders say whether the job is over.
  if (has_orders_) ConsiderTrainer();
}

void JobRuntime::ReadCheckpoint() {
  job::JobSpec spec = start_.SpecToRead(spec_);
  const job::JobSpec::Checkpoint& from = *spec.model.checkpoint;
  runtime::Log(
      runtime::Severity::kInfo, "worker.checkpoint.read",
      {{"job", job_.value()}, {"path", from.path}, {"name", from.name}});
  environment_.disk.Run([this, &places = environment_.places,
                         &files = environment_.files, &loop = environment_.loop,
                         spec = std::move(spec),
                         alive = std::weak_ptr<char>(alive_)]() mutable {
    auto base = std::make_shared<absl::StatusOr<StartingBase>>(
        ReadStartingBase(spec, places, files));
    loop.Post([this, base = std::move(base), alive = std::move(alive)] {
      if (!alive.expired()) OnCheckpoint(*std::move(base));
    });
  });
}

void JobRuntime::OnCheckpoint(absl::StatusOr<StartingBase> base) {
  if (!base.ok() && !start_.restored().sha256.empty()) {
    runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.unreadable",
                 {{"job", job_.value()}, {"cause", base.status()}});
    restore_error_ = std::string(base.status().message());
    can_train_ = true;
    return ConsiderTrainer();
  }
  if (!base.ok()) {
    return ReadCheckpointAgain(Annotate(base.status(), "model.checkpoint"));
  }
  if (spec_.model.program.has_value()) starting_tensors_ = base->tensors;
  StoreCheckpoint(std::make_shared<StartingBase>(*std::move(base)), 0);
}

void JobRuntime::StoreCheckpoint(std::shared_ptr<StartingBase> base,
                                 size_t fragment) {
  if (fragment == base->files.size()) {
    can_train_ = true;
    return ConsiderTrainer();
  }
  StartingBase::File& one = base->files[fragment];
  one.file.sequence = start_.at()[fragment];
  disk_.Store(one.file, std::move(one.contents),
              [this, base, fragment](Instant now, absl::Status status) {
                if (!status.ok()) return ReadCheckpointLater(status);
                seat_->OnImported(now, base->files[fragment].file);
                StoreCheckpoint(base, fragment + 1);
              });
}

// Room may be made on the disk.
void JobRuntime::ReadCheckpointLater(const absl::Status& status) {
  runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.not_stored",
               {{"job", job_.value()}, {"cause", status}});
  trainer_error_ = absl::StrCat("disk: ", status.message());
  status_changed_();
  environment_.loop.RunAt(environment_.loop.Now() + kReadAgainAfter,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (!alive.expired()) ReadInner();
                          });
}

void JobRuntime::Save(StateToSave state, StateSaver::Written written) {
  state.program = program_;
  state.spec.data.path = data_.folder();  // has the tokenizer
  to_save_.emplace(std::move(state), std::move(written));
  ConsiderSave();
}

void JobRuntime::ConsiderSave() {
  if (!to_save_.has_value()) return;
  const Sequence at = to_save_->first.order.sequence;
  if (inner_.busy() || seat_->AwaitsInner(at)) return;
  auto [state, written] = *std::exchange(to_save_, std::nullopt);
  absl::StatusOr<SharedBytes> inner = inner_.Open(at.value());
  if (inner.ok()) {
    state.inner = *std::move(inner);
    runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.inner",
                 {{"job", job_.value()},
                  {"sequence", at.value()},
                  {"bytes", state.inner.size()}});
  } else {
    runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.no_inner",
                 {{"job", job_.value()},
                  {"sequence", at.value()},
                  {"cause", inner.status()}});
  }
  environment_.save.Run(
      [state = std::make_unique<StateToSave>(std::move(state)),
       written = std::move(written), &places = environment_.places,
       &files = environment_.files, &loop = environment_.loop]() mutable {
        CheckpointFact outcome = SaveState(*state, places, files);
        state.reset();
        loop.Post([outcome = std::move(outcome),
                   written = std::move(written)]() mutable {
          std::move(written)(std::move(outcome));
        });
      });
}

void JobRuntime::ReadCheckpointAgain(const absl::Status& status) {
  runtime::Log(runtime::Severity::kError, "worker.job.unserved",
               {{"job", job_.value()}, {"cause", status}});
  fatal_ = std::string(status.message());
  status_changed_();
  environment_.loop.RunAt(environment_.loop.Now() + kServeAgainAfter,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (!alive.expired()) ReadInner();
                          });
}

}  // namespace skerry::worker
