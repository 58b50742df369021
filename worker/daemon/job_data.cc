#include "worker/daemon/job_data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/s3_location.h"
#include "base/status.h"
#include "runtime/log.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {
namespace {

// The wait before the data are asked for again doubles from one failure to the
// next.
constexpr absl::Duration kAskAgainMin = absl::Seconds(2);
constexpr absl::Duration kAskAgainMax = absl::Minutes(1);

}  // namespace

JobData::JobData(JobId job, const job::JobSpec& spec,
                 const JobDataOptions& options,
                 std::function<void(const absl::Status& outcome)> changed,
                 std::function<void()> told)
    : job_(job),
      place_(spec.data.path),
      manifest_sha256_(spec.data.manifest_sha256),
      in_store_(IsS3Place(place_)),
      in_folder_(!in_store_ && !place_.empty() &&
                 !spec.model.program.has_value()),
      options_(options),
      changed_(std::move(changed)),
      told_(std::move(told)),
      folder_(in_store_ ? options.cache.FolderOf(manifest_sha256_) : place_),
      in_cache_(in_store_) {}

JobData::~JobData() { SetWaiting(false); }

void JobData::LookOnce() {
  if (in_folder_ && !has_looked_) Look();
}

bool JobData::Take() {
  if (is_here_ || (!in_store_ && !in_folder_)) return true;
  if (std::exchange(is_wanted_, true)) return false;
  wait_ = kAskAgainMin;
  if (in_store_) {
    Fetch();
  } else if (given_.has_value()) {
    // Nobody has to be asked.
    UseFolder();
    return true;
  } else {
    Look();
  }
  return false;
}

void JobData::Release() {
  if (!is_wanted_ && !is_here_) return;
  SetWaiting(false);
  if (use_ != nullptr && in_folder_) SetGiven(std::nullopt);
  use_.reset();
  peers_.reset();
  is_here_ = false;
  is_wanted_ = false;
  folder_lacks_ = false;
  failure_.clear();
  timer_.reset();
  current_ = std::make_shared<char>();
}

void JobData::Look() {
  if (std::exchange(is_looking_, true)) return;
  options_.server.Find(
      place_, manifest_sha256_,
      [this, alive = std::weak_ptr<char>(alive_)](DataServer::Found found) {
        if (!alive.expired()) OnLooked(std::move(found));
      });
}

void JobData::OnLooked(DataServer::Found found) {
  is_looking_ = false;
  has_looked_ = true;
  if (use_ != nullptr) return;  // from the cache
  folder_lacks_ = !found.ok();
  if (found.ok()) {
    SetGiven(Given{place_, *std::move(found)});
  } else {
    SetGiven(std::nullopt);
  }
  if (!is_wanted_) return;
  if (given_.has_value()) {
    UseFolder();
    return changed_(absl::OkStatus());
  }
  if (!holders_->Get().empty() || options_.cache.SeemsWhole(manifest_sha256_)) {
    return Fetch();
  }
  AwaitHolders();
}

void JobData::AwaitHolders() {
  Later(kHoldersWithin, [this] {
    UseFolder();
    changed_(absl::OkStatus());
  });
}

void JobData::UseFolder() {
  folder_ = place_;
  in_cache_ = false;
  is_here_ = true;
  is_wanted_ = false;
  failure_.clear();
  SetWaiting(false);
}

bool JobData::OnHolders(const std::vector<std::string>& holders) {
  const bool had_some = !holders_->Get().empty();
  holders_->Set(holders);
  if (had_some || holders.empty() || !in_folder_ || given_.has_value()) {
    return false;
  }
  // The wait for holders is over.
  if (is_wanted_ && folder_lacks_ && use_ == nullptr) Fetch();
  return true;
}

void JobData::Fetch() {
  timer_.reset();
  folder_ = options_.cache.FolderOf(manifest_sha256_);
  in_cache_ = true;
  lacks_files_ = !options_.cache.SeemsWhole(manifest_sha256_);
  SetWaiting(true);
  Ask();
  if (lacks_files_) told_();
}

void JobData::SetWaiting(bool waiting) {
  if (std::exchange(is_waiting_, waiting) == waiting) return;
  waiting ? options_.cache.OnWaitBegins() : options_.cache.OnWaitEnds();
}

void JobData::Ask() {
  std::shared_ptr<DataSource> source;
  if (in_store_) {
    source = std::make_shared<StoreSource>(place_, options_.places);
  } else {
    peers_ =
        std::make_shared<PeerSource>(PeerSourceOptions{.job = job_,
                                                       .set = manifest_sha256_,
                                                       .holders = holders_,
                                                       .ask = options_.ask});
    source = peers_;
  }
  use_ = options_.cache.Take(
      std::move(source), manifest_sha256_,
      [this](const absl::Status& outcome) { OnAsked(outcome); });
}

void JobData::OnAsked(const absl::Status& outcome) {
  const absl::Status status =
      Annotate(outcome, absl::StrCat("data.path ", place_));
  if (status.ok()) {
    SetWaiting(false);
    is_here_ = true;
    is_wanted_ = false;
    failure_.clear();
    if (in_folder_) GiveFromCache();
    return changed_(status);
  }
  use_.reset();
  if (status.message() != failure_) {
    failure_ = std::string(status.message());
    runtime::Log(runtime::Severity::kError, "worker.job.unserved",
                 {{"job", job_.value()}, {"cause", status}});
  }
  // Somebody may have put the set into the folder meanwhile.
  Later(wait_, [this] { in_store_ ? Ask() : Look(); });
  wait_ = std::min(2 * wait_, kAskAgainMax);
  changed_(status);
}

void JobData::Later(absl::Duration wait, std::function<void()> task) {
  timer_ = std::make_shared<char>();
  options_.loop.RunAt(
      options_.loop.Now() + wait,
      [task = std::move(task), timer = std::weak_ptr<char>(timer_)] {
        if (!timer.expired()) task();
      });
}

void JobData::GiveFromCache() {
  options_.server.Find(
      folder_, manifest_sha256_,
      [this, folder = folder_,
       current = std::weak_ptr<char>(current_)](DataServer::Found found) {
        if (current.expired() || !found.ok()) return;
        SetGiven(Given{folder, *std::move(found)});
      });
}

void JobData::SetGiven(std::optional<Given> given) {
  const bool had = given_.has_value();
  given_ = std::move(given);
  if (had != given_.has_value()) told_();
}

void JobData::Give(const protocol::PieceKey& key,
                   transport::BulkReceiver::FetchAnswer answer) {
  if (in_folder_ && !has_looked_) {
    Look();
    return std::move(answer)(absl::UnavailableError(
        "it looks whether it has the data set; ask again"));
  }
  if (!given_.has_value() || key.hash != ShortHash(manifest_sha256_)) {
    return std::move(answer)(absl::NotFoundError(
        absl::StrCat("it does not have the data set of job ", job_.value())));
  }
  const auto file =
      std::find_if(given_->files.begin(), given_->files.end(),
                   [&](const DataFile& one) { return one.number == key.file; });
  if (file == given_->files.end()) {
    return std::move(answer)(absl::NotFoundError(
        absl::StrCat("the data set has no file number ", key.file)));
  }
  options_.server.Read(
      absl::StrCat(given_->folder, "/", file->name), file->bytes,
      key.offset_bytes,
      [this, alive = std::weak_ptr<char>(alive_),
       answer = std::move(answer)](absl::StatusOr<SharedBytes> chunk) mutable {
        const bool is_damaged = absl::IsNotFound(chunk.status()) ||
                                absl::IsDataLoss(chunk.status());
        std::move(answer)(std::move(chunk));
        // Others are told when the folder lacks something now.
        if (is_damaged && !alive.expired() && in_folder_) Look();
      });
}

std::string JobData::failure() const {
  return failure_.empty() ? "" : failure_ + "; tried again by itself";
}

std::string JobData::OriginsText() const {
  if (in_store_) return place_;
  std::string text =
      absl::StrCat("worker ", absl::StrJoin(holders_->Get(), ", "));
  const std::string trouble = peers_ == nullptr ? "" : peers_->trouble();
  if (!trouble.empty()) absl::StrAppend(&text, "; ", trouble);
  return text;
}

std::string JobData::news() const {
  if (!is_waiting_ || !failure_.empty() || !lacks_files_) return "";
  return absl::StrCat("its data are still being fetched from ", OriginsText());
}

}  // namespace skerry::worker
