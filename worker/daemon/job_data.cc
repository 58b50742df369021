#include "worker/daemon/job_data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/s3_location.h"
#include "base/status.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// The wait before the data are asked for again doubles from one failure to the
// next.
constexpr absl::Duration kAskAgainMin = absl::Seconds(2);
constexpr absl::Duration kAskAgainMax = absl::Minutes(1);

}  // namespace

JobData::JobData(JobId job, const job::JobSpec& spec, DataCache& cache,
                 runtime::EventLoop& loop,
                 std::function<void(const absl::Status& outcome)> changed)
    : job_(job),
      place_(spec.data.path),
      manifest_sha256_(spec.data.manifest_sha256),
      in_store_(IsS3Place(place_)),
      folder_(in_store_ ? cache.FolderOf(manifest_sha256_) : place_),
      cache_(cache),
      loop_(loop),
      changed_(std::move(changed)) {}

JobData::~JobData() { SetWaiting(false); }

bool JobData::Take() {
  if (!in_store_ || is_here_) return true;
  if (is_waiting_) return false;
  lacks_files_ = !cache_.SeemsWhole(manifest_sha256_);
  wait_ = kAskAgainMin;
  SetWaiting(true);
  Ask();
  return false;
}

void JobData::Release() {
  if (!in_store_) return;
  SetWaiting(false);
  use_.reset();
  is_here_ = false;
  failure_.clear();
  current_ = std::make_shared<char>();
}

void JobData::SetWaiting(bool waiting) {
  if (std::exchange(is_waiting_, waiting) == waiting) return;
  waiting ? cache_.OnWaitBegins() : cache_.OnWaitEnds();
}

void JobData::Ask() {
  use_ = cache_.Take(place_, manifest_sha256_,
                     [this](const absl::Status& outcome) { OnAsked(outcome); });
}

void JobData::OnAsked(const absl::Status& outcome) {
  const absl::Status status =
      Annotate(outcome, absl::StrCat("data.path ", place_));
  if (status.ok()) {
    SetWaiting(false);
    is_here_ = true;
    failure_.clear();
    return changed_(status);
  }
  use_.reset();
  if (status.message() != failure_) {
    failure_ = std::string(status.message());
    runtime::Log(runtime::Severity::kError, "worker.job.unserved",
                 {{"job", job_.value()}, {"cause", status}});
  }
  loop_.RunAt(loop_.Now() + wait_,
              [this, current = std::weak_ptr<char>(current_)] {
                if (!current.expired()) Ask();
              });
  wait_ = std::min(2 * wait_, kAskAgainMax);
  changed_(status);
}

std::string JobData::failure() const {
  return failure_.empty() ? "" : failure_ + "; tried again by itself";
}

std::string JobData::news() const {
  if (!is_waiting_ || !failure_.empty() || !lacks_files_) return "";
  return absl::StrCat("its data are still being fetched from ", place_);
}

}  // namespace skerry::worker
