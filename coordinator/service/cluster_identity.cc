#include "coordinator/service/cluster_identity.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "identity/x509/identity_folder.h"
#include "runtime/posix/mutex.h"
#include "transport/address.h"

namespace skerry::coordinator {
namespace {

constexpr char kClusterFile[] = "/cluster";
constexpr absl::Duration kOwnLifetime = absl::Hours(24 * 90);

absl::Status WriteText(const std::string& path, const std::string& text,
                       runtime::Files& files) {
  return files.WriteDurably(path, std::as_bytes(std::span(text)));
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string FormatFacts(const ClusterFacts& facts) {
  return absl::StrFormat("name: %s\nuid: %016x\naddress: %s\n", facts.name,
                         facts.uid, facts.address);
}

absl::Status CheckFacts(const ClusterFacts& facts) {
  SKERRY_RETURN_IF_ERROR(identity::CheckCluster(facts.name));
  return transport::CheckAddress(facts.address,
                                 transport::AddressUse::kConnect);
}

absl::StatusOr<ClusterFacts> ParseFacts(const std::string& path,
                                        const std::string& text) {
  ClusterFacts facts;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (field.first == "name") facts.name = std::string(field.second);
    if (field.first == "address") facts.address = std::string(field.second);
    if (field.first == "uid") {
      (void)absl::SimpleHexAtoi(field.second, &facts.uid);
    }
  }
  if (!CheckFacts(facts).ok() || FormatFacts(facts) != text) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is damaged; put it back from a backup"));
  }
  return facts;
}

}  // namespace

struct ClusterIdentity::Live {
  runtime::Mutex mutex;
  std::shared_ptr<const Authorities> authorities ABSL_GUARDED_BY(mutex);
};

ClusterIdentity::ClusterIdentity(std::string folder, ClusterFacts facts,
                                 Authorities authorities, runtime::Files& files)
    : folder_(std::move(folder)),
      facts_(std::move(facts)),
      live_(std::make_shared<Live>()),
      files_(&files) {
  live_->authorities =
      std::make_shared<const Authorities>(std::move(authorities));
}

std::shared_ptr<const Authorities> ClusterIdentity::Now() const {
  const runtime::MutexLock lock(live_->mutex);
  return live_->authorities;
}

absl::StatusOr<ClusterIdentity> ClusterIdentity::Make(const std::string& folder,
                                                      const ClusterFacts& facts,
                                                      absl::Time now,
                                                      runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(CheckFacts(facts));
  const std::string path = folder + kClusterFile;
  const absl::StatusOr<std::string> before = ReadText(path, files);
  if (before.ok()) {
    return absl::AlreadyExistsError(absl::StrCat(
        folder, " has a cluster already; a new one needs an empty folder"));
  }
  if (!absl::IsNotFound(before.status())) return before.status();
  SKERRY_ASSIGN_OR_RETURN(Authorities authorities,
                          MakeAuthorities(folder, facts.name, now, files));
  ClusterIdentity made(folder, facts, std::move(authorities), files);
  // A certificate that an interrupted run left is of another CA.
  SKERRY_RETURN_IF_ERROR(made.RenewOwn(now).status());
  return made;
}

absl::Status ClusterIdentity::Finish() {
  return WriteText(folder_ + kClusterFile, FormatFacts(facts_), *files_);
}

absl::StatusOr<ClusterIdentity> ClusterIdentity::Open(const std::string& folder,
                                                      runtime::Files& files) {
  const std::string path = folder + kClusterFile;
  SKERRY_ASSIGN_OR_RETURN(const std::string text, ReadText(path, files));
  SKERRY_ASSIGN_OR_RETURN(ClusterFacts facts, ParseFacts(path, text));
  SKERRY_ASSIGN_OR_RETURN(Authorities authorities,
                          ReadAuthorities(folder, files));
  return ClusterIdentity(folder, std::move(facts), std::move(authorities),
                         files);
}

absl::StatusOr<bool> ClusterIdentity::Reload() const {
  SKERRY_ASSIGN_OR_RETURN(Authorities read, ReadAuthorities(folder_, *files_));
  if (read.Trusted() == authorities()) return false;
  const runtime::MutexLock lock(live_->mutex);
  live_->authorities = std::make_shared<const Authorities>(std::move(read));
  return true;
}

absl::StatusOr<bool> ClusterIdentity::RenewOwn(absl::Time now) const {
  const std::string folder = folder_ + identity::kIdentityFolder;
  const identity::Name name{facts_.name, identity::CoordinatorName()};
  const absl::StatusOr<identity::Identity> read =
      identity::ReadIdentity(folder, *files_);
  if (read.ok()) {
    const auto checked = identity::CheckIdentity(*read, now);
    const auto own_mark = identity::MarkOf(*read);
    if (checked.ok() && checked->name == name && own_mark.ok() &&
        *own_mark == mark() &&
        !identity::IsDueForRenewal(checked->chain[0], now)) {
      return false;
    }
  }
  SKERRY_ASSIGN_OR_RETURN(const identity::PrivateKey key,
                          identity::KeyOf(folder, *files_));
  SKERRY_ASSIGN_OR_RETURN(Issued issued,
                          Issue(name, key.Public(), kOwnLifetime, now));
  SKERRY_RETURN_IF_ERROR(identity::WriteIdentity(
      folder, {authorities(), std::move(issued.chain), key.Pem()}, *files_));
  return true;
}

absl::StatusOr<ClusterIdentity::Issued> ClusterIdentity::Issue(
    const identity::Name& name, const identity::PublicKey& key,
    absl::Duration lifetime, absl::Time now) const {
  const std::shared_ptr<const Authorities> present = Now();
  SKERRY_ASSIGN_OR_RETURN(identity::Certificate certificate,
                          present->writes.Issue(name, key, lifetime, now));
  std::string chain = certificate.Pem() + present->Above();
  return Issued{std::move(certificate), std::move(chain)};
}

std::string ClusterIdentity::mark() const {
  const std::shared_ptr<const Authorities> present = Now();
  return identity::MarkOf(present->Trusted(), present->Above());
}

}  // namespace skerry::coordinator
