// What a job reads from checkpoints on this worker, and saves as one.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "worker/shell/job_shell.h"

namespace skerry::worker {

void JobShell::CheckFolder() {
  ports_.checkpoints->CheckFolder(
      [this, alive = std::weak_ptr<char>(alive_)](const absl::Status& usable) {
        if (!alive.expired()) OnFolder(usable);
      });
}

void JobShell::OnFolder(const absl::Status& usable) {
  if (usable.message() != folder_error_) {
    folder_error_ = std::string(usable.message());
    if (!usable.ok()) {
      runtime::Log(runtime::Severity::kError, "worker.checkpoint.unusable",
                   {{"job", job_.value()}, {"cause", usable}});
    }
    status_changed_();
  }
  if (usable.ok()) return;
  After(machine_.times.unstored_again, [this] { CheckFolder(); });
}

void JobShell::ReadInner() {
  const std::optional<InnerSource>& from =
      reads_base_ ? inner_of_base_ : inner_of_newest_;
  if (!from.has_value() || ports_.inner->is_there()) {
    return OnInner(absl::OkStatus());
  }
  runtime::Log(
      runtime::Severity::kInfo, "worker.inner.read",
      {{"job", job_.value()}, {"path", from->place}, {"name", from->name}});
  ports_.inner->Import(*from,
                       [this](const absl::Status& status) { OnInner(status); });
}

void JobShell::OnInner(const absl::Status& status) {
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
    ports_.inner->SetWhyNone(std::string(status.message()));
  }
  if (reads_base_) return ReadCheckpoint();
  BeginTraining();
}

void JobShell::BeginTraining() {
  can_train_ = true;
  // Orders say whether the job is over.
  if (has_orders_) ConsiderTrainer();
}

void JobShell::ReadCheckpoint() {
  const job::JobSpec spec = start_.SpecToRead(spec_);
  const job::JobSpec::Checkpoint& from = *spec.model.checkpoint;
  runtime::Log(
      runtime::Severity::kInfo, "worker.checkpoint.read",
      {{"job", job_.value()}, {"path", from.path}, {"name", from.name}});
  ports_.checkpoints->ReadBase(spec,
                               [this, alive = std::weak_ptr<char>(alive_)](
                                   absl::StatusOr<StartingBase> base) {
                                 if (!alive.expired())
                                   OnCheckpoint(std::move(base));
                               });
}

void JobShell::OnCheckpoint(absl::StatusOr<StartingBase> base) {
  if (!base.ok() && !start_.restored().sha256.empty()) {
    runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.unreadable",
                 {{"job", job_.value()}, {"cause", base.status()}});
    restore_error_ = std::string(base.status().message());
    status_changed_();
    // Nobody may have it: then one of those that ask again begins with it.
    After(machine_.times.unreadable_again, [this] {
      if (!HasBase()) ReadCheckpoint();
    });
    return BeginTraining();
  }
  if (!base.ok()) {
    return ReadCheckpointAgain(Annotate(base.status(), "model.checkpoint"));
  }
  restore_error_.clear();
  // Another worker may have given it while it was read.
  if (HasBase()) return BeginTraining();
  if (spec_.model.program.has_value()) starting_tensors_ = base->tensors;
  StoreCheckpoint(std::make_shared<StartingBase>(*std::move(base)), 0);
}

bool JobShell::HasBase() const {
  const protocol::JobFacts facts = seat_->Facts();
  const auto& bases = facts.fragments.back().bases;
  return std::any_of(bases.begin(), bases.end(),
                     [at = start_.at().back()](const protocol::HeldBase& base) {
                       return base.sequence >= at;
                     });
}

void JobShell::StoreCheckpoint(std::shared_ptr<StartingBase> base,
                               size_t fragment) {
  if (fragment == base->files.size()) return BeginTraining();
  StartingBase::File& one = base->files[fragment];
  one.file.sequence = start_.at()[fragment];
  ports_.folder->Store(
      one.file, std::move(one.contents),
      [this, base, fragment](Instant now, const absl::Status& status) {
        if (!status.ok()) return ReadCheckpointLater(status);
        seat_->OnImported(now, base->files[fragment].file);
        StoreCheckpoint(base, fragment + 1);
      });
}

void JobShell::ReadCheckpointLater(const absl::Status& status) {
  runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.not_stored",
               {{"job", job_.value()}, {"cause", status}});
  trainer_error_ = absl::StrCat("disk: ", status.message());
  status_changed_();
  After(machine_.times.unstored_again, [this] { ReadInner(); });
}

void JobShell::ReadCheckpointAgain(const absl::Status& status) {
  runtime::Log(runtime::Severity::kError, "worker.job.unserved",
               {{"job", job_.value()}, {"cause", status}});
  fatal_ = std::string(status.message());
  status_changed_();
  After(machine_.times.unreadable_again, [this] { ReadInner(); });
}

void JobShell::Save(StateToSave state, StateSaver::Written written) {
  state.program = program_;
  state.spec.data.path = ports_.data->folder();  // has the tokenizer
  to_save_.emplace(std::move(state), std::move(written));
  ConsiderSave();
}

void JobShell::ConsiderSave() {
  if (!to_save_.has_value()) return;
  const Sequence at = to_save_->first.order.sequence;
  if (ports_.inner->busy() || seat_->AwaitsInner(at)) return;
  auto [state, written] = *std::exchange(to_save_, std::nullopt);
  absl::StatusOr<SharedBytes> inner = ports_.inner->Open(at.value());
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
  ports_.checkpoints->Save(std::move(state), std::move(written));
}

}  // namespace skerry::worker
