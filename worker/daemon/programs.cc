#include "worker/daemon/programs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/sha256.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kLookAgain = absl::Seconds(2);

}  // namespace

Programs::Programs(std::vector<AllowedProgram> allowed, runtime::Files& files,
                   runtime::EventLoop& loop, runtime::Executor& reader)
    : files_(files), loop_(loop), reader_(reader) {
  for (AllowedProgram& one : allowed) {
    Seen seen = LookAt(one.file, Seen(), files);
    all_.push_back({std::move(one), std::move(seen)});
  }
}

Programs::Seen Programs::LookAt(const std::string& file, const Seen& before,
                                runtime::Files& files) {
  Seen now;
  std::error_code error;
  now.bytes = std::filesystem::file_size(file, error);
  if (!error) now.written = std::filesystem::last_write_time(file, error);
  if (error) {
    now = {};
    now.error = absl::StrCat(file, ": ", error.message());
    return now;
  }
  if (before.error.empty() && !before.sha256.empty() &&
      before.bytes == now.bytes && before.written == now.written) {
    return before;
  }
  const auto bytes = files.Read(file);
  if (bytes.ok()) {
    now.sha256 = Sha256Hex(*bytes);
  } else {
    now.error = std::string(bytes.status().message());
  }
  return now;
}

void Programs::KeepLooking(absl::AnyInvocable<void()> changed) {
  changed_ = std::move(changed);
  LookLater();
}

void Programs::LookLater() {
  if (all_.empty()) return;
  loop_.RunAt(loop_.Now() + kLookAgain,
              [this, alive = std::weak_ptr<char>(alive_)] {
                if (alive.expired()) return;
                for (size_t i = 0; i + 1 < all_.size(); ++i) Look(i, nullptr);
                // The reader does one after the other.
                Look(all_.size() - 1, [this] { LookLater(); });
              });
}

void Programs::Look(size_t index, absl::AnyInvocable<void() &&> then) {
  reader_.Run([this, index, &loop = loop_, &files = files_,
               file = all_[index].allowed.file, before = all_[index].seen,
               then = std::move(then),
               alive = std::weak_ptr<char>(alive_)]() mutable {
    Seen seen = LookAt(file, before, files);
    loop.Post([this, index, seen = std::move(seen), then = std::move(then),
               alive = std::move(alive)]() mutable {
      if (alive.expired()) return;
      const bool same = all_[index].seen.sha256 == seen.sha256;
      all_[index].seen = std::move(seen);
      if (!same && changed_) changed_();
      if (then) std::move(then)();
    });
  });
}

std::vector<protocol::ProgramFact> Programs::Facts() const {
  std::vector<protocol::ProgramFact> facts;
  for (const One& one : all_) {
    facts.push_back({one.allowed.name, one.seen.sha256});
  }
  return facts;
}

absl::StatusOr<std::string> Programs::Check(
    const One& one, const job::JobSpec::Program& wanted) {
  if (!one.seen.error.empty()) {
    return absl::NotFoundError(absl::StrCat("this worker cannot read program ",
                                            wanted.name, ": ", one.seen.error));
  }
  if (!wanted.sha256.empty() && wanted.sha256 != one.seen.sha256) {
    return absl::NotFoundError(
        absl::StrCat("this worker's program ", wanted.name,
                     " is not the job's: its SHA-256 is ", one.seen.sha256,
                     ", the job names ", wanted.sha256));
  }
  return one.allowed.file;
}

void Programs::Find(const job::JobSpec::Program& wanted, Found found) {
  const auto one = std::find_if(all_.begin(), all_.end(), [&](const One& it) {
    return it.allowed.name == wanted.name;
  });
  if (one == all_.end()) {
    const std::string others =
        absl::StrJoin(all_, ", ", [](std::string* out, const One& it) {
          absl::StrAppend(out, it.allowed.name);
        });
    loop_.Post(
        [found = std::move(found), others, name = wanted.name]() mutable {
          std::move(found)(absl::NotFoundError(absl::StrCat(
              "this worker allows no program ", name,
              others.empty() ? "" : absl::StrCat(", only ", others),
              "; its operator can, with --program ", name, "=FILE")));
        });
    return;
  }
  const size_t index = static_cast<size_t>(one - all_.begin());
  Look(index, [this, index, wanted, found = std::move(found)]() mutable {
    std::move(found)(Check(all_[index], wanted));
  });
}

}  // namespace skerry::worker
