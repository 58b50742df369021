#include "worker/core/patient_disk.h"

#include <utility>

namespace skerry::worker {

PatientDisk::PatientDisk(DiskPort& disk, absl::Duration retry_interval,
                         Changed changed)
    : disk_(disk),
      retry_interval_(retry_interval),
      changed_(std::move(changed)) {}

void PatientDisk::Store(const StoredFile& file,
                        std::vector<SharedBytes> contents,
                        Done<absl::Status> done) {
  Try(std::make_shared<Write>(
      Write{file, std::move(contents), std::move(done)}));
}

void PatientDisk::Try(std::shared_ptr<Write> write) {
  const StoredFile file = write->file;
  std::vector<SharedBytes> contents = write->contents;
  disk_.Store(file, std::move(contents),
              scope_.Wrap([this, write = std::move(write)](
                              Instant now, const absl::Status& status) {
                OnTried(now, write, status);
              }));
}

void PatientDisk::OnTried(Instant now, std::shared_ptr<Write> write,
                          const absl::Status& status) {
  if (!status.ok()) {
    if (!std::exchange(write->has_failed, true)) ++failed_;
    waiting_.push_back(std::move(write));
    if (!next_try_) next_try_ = now + retry_interval_;
    const bool first = error_.empty();
    error_ = std::string(status.message());
    if (error_.empty()) error_ = "it cannot store";
    if (first) changed_(now);
    return;
  }
  const bool better = write->has_failed && --failed_ == 0;
  if (better) error_.clear();
  std::move(write->done)(now, absl::OkStatus());
  if (better) changed_(now);
}

void PatientDisk::OnTime(Instant now) {
  if (!next_try_ || *next_try_ > now) return;
  next_try_.reset();
  for (std::shared_ptr<Write>& write : std::exchange(waiting_, {})) {
    Try(std::move(write));
  }
}

}  // namespace skerry::worker
