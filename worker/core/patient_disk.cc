#include "worker/core/patient_disk.h"

#include <utility>

namespace skerry::worker {
namespace {

// Whether one replaces the other on the disk.
bool HaveOneName(const StoredFile& a, const StoredFile& b) {
  return a.fragment == b.fragment && a.kind == b.kind &&
         a.sequence == b.sequence && a.attempt == b.attempt &&
         a.initial_hash == b.initial_hash &&
         a.pieces.empty() == b.pieces.empty() &&
         (a.pieces.empty() || (a.pieces.front().span == b.pieces.front().span &&
                               a.pieces.back().span == b.pieces.back().span));
}

}  // namespace

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

void PatientDisk::Delete(const StoredFile& file) {
  for (const auto* writes : {&writing_, &waiting_}) {
    for (const std::shared_ptr<Write>& write : *writes) {
      write->deleted |= HaveOneName(write->file, file);
    }
  }
  disk_.Delete(file);
}

void PatientDisk::Try(std::shared_ptr<Write> write) {
  const StoredFile file = write->file;
  std::vector<SharedBytes> contents = write->contents;
  writing_.push_back(write);
  disk_.Store(file, std::move(contents),
              scope_.Wrap([this, write = std::move(write)](
                              Instant now, const absl::Status& status) {
                std::erase(writing_, write);
                OnTried(now, write, status);
              }));
}

void PatientDisk::OnTried(Instant now, std::shared_ptr<Write> write,
                          const absl::Status& status) {
  if (!status.ok() && !write->deleted) {
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
  std::move(write->done)(now, write->deleted
                                  ? absl::AbortedError("deleted meanwhile")
                                  : absl::OkStatus());
  if (better) changed_(now);
}

void PatientDisk::OnTime(Instant now) {
  if (!next_try_ || *next_try_ > now) return;
  next_try_.reset();
  for (std::shared_ptr<Write>& write : std::exchange(waiting_, {})) {
    if (write->deleted) {
      OnTried(now, std::move(write), absl::OkStatus());
    } else {
      Try(std::move(write));
    }
  }
}

}  // namespace skerry::worker
