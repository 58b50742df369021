#include "coordinator/service/authority_folders.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "identity/x509/keys.h"

namespace skerry::coordinator {
namespace {

constexpr char kFirst[] = "authority";
constexpr char kCertificate[] = "/cert.pem";
constexpr char kKey[] = "/key.pem";
constexpr char kVoucher[] = "/voucher.pem";
constexpr absl::Duration kLifetime = absl::Hours(24 * 3650);

absl::Status WriteText(const std::string& path, const std::string& text,
                       runtime::Files& files) {
  return files.WriteDurably(path, std::as_bytes(std::span(text)));
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string FolderOf(const std::string& state, int generation) {
  return generation == 1 ? absl::StrCat(state, "/", kFirst)
                         : absl::StrCat(state, "/", kFirst, "-", generation);
}

// The folders that have a CA, and which is whose. 0: there is none.
struct Generations {
  int writes = 0;
  int before = 0;
};

absl::StatusOr<Generations> FindGenerations(const std::string& state,
                                            const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files.ListDirectories(state));
  Generations found;
  for (const std::string& name : names) {
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kFirst)) continue;
    int generation = 1;
    if (!rest.empty() && (!absl::ConsumePrefix(&rest, "-") ||
                          !absl::SimpleAtoi(rest, &generation))) {
      continue;
    }
    if (FolderOf(state, generation) != absl::StrCat(state, "/", name)) continue;
    const auto certificate =
        files.Read(absl::StrCat(state, "/", name, kCertificate));
    if (absl::IsNotFound(certificate.status())) continue;
    SKERRY_RETURN_IF_ERROR(certificate.status());
    if (generation > found.writes) {
      found.before = std::exchange(found.writes, generation);
    } else if (generation > found.before) {
      found.before = generation;
    }
  }
  return found;
}

absl::Status Damaged(const std::string& what, const absl::Status& why) {
  return absl::FailedPreconditionError(absl::StrCat(
      what, ": ", why.message(), "; put the folder back from a backup"));
}

absl::StatusOr<std::string> ReadNeeded(const std::string& path,
                                       const runtime::Files& files) {
  absl::StatusOr<std::string> text = ReadText(path, files);
  if (absl::IsNotFound(text.status())) {
    return absl::FailedPreconditionError(text.status().message());
  }
  return text;
}

absl::StatusOr<identity::Certificate> ReadCertificate(
    const std::string& path, const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text, ReadNeeded(path, files));
  absl::StatusOr<std::vector<identity::Certificate>> read =
      identity::Certificate::ParsePem(text);
  if (!read.ok()) return Damaged(path, read.status());
  return std::move((*read)[0]);
}

absl::Status WriteAuthority(const std::string& folder,
                            const identity::Authority& made,
                            runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(WriteText(folder + kKey, made.key().Pem(), files));
  return WriteText(folder + kCertificate, made.certificate().Pem(), files);
}

}  // namespace

std::string Authorities::Trusted() const {
  return writes.certificate().Pem() +
         (before.has_value() ? before->certificate.Pem() : "");
}

std::string Authorities::Above() const {
  return before.has_value() ? before->voucher.Pem() + before->certificate.Pem()
                            : writes.certificate().Pem();
}

std::string Authorities::Pin() const {
  return identity::FormatPin(before.has_value()
                                 ? before->certificate.public_key()
                                 : writes.certificate().public_key());
}

absl::StatusOr<Authorities> MakeAuthorities(const std::string& folder,
                                            const std::string& cluster,
                                            absl::Time now,
                                            runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(identity::Authority made,
                          identity::Authority::Make(cluster, kLifetime, now));
  const std::string own = FolderOf(folder, 1);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(own));
  SKERRY_RETURN_IF_ERROR(WriteAuthority(own, made, files));
  return Authorities{std::move(made), std::nullopt};
}

absl::StatusOr<Authorities> ReadAuthorities(const std::string& folder,
                                            const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const Generations found,
                          FindGenerations(folder, files));
  const std::string own = FolderOf(folder, std::max(found.writes, 1));
  SKERRY_ASSIGN_OR_RETURN(const std::string certificate,
                          ReadNeeded(own + kCertificate, files));
  SKERRY_ASSIGN_OR_RETURN(const std::string key, ReadNeeded(own + kKey, files));
  absl::StatusOr<identity::Authority> writes =
      identity::Authority::FromPem(certificate, key);
  if (!writes.ok()) return Damaged(own, writes.status());
  Authorities read{*std::move(writes), std::nullopt};
  if (found.before == 0) return read;
  SKERRY_ASSIGN_OR_RETURN(
      identity::Certificate before,
      ReadCertificate(FolderOf(folder, found.before) + kCertificate, files));
  SKERRY_ASSIGN_OR_RETURN(identity::Certificate voucher,
                          ReadCertificate(own + kVoucher, files));
  read.before = {std::move(before), std::move(voucher)};
  return read;
}

absl::Status ReplaceAuthority(const std::string& folder, absl::Time now,
                              runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const Authorities present,
                          ReadAuthorities(folder, files));
  if (present.before.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the CA that was replaced on ",
        absl::FormatTime("%Y-%m-%d", present.before->voucher.not_before(),
                         absl::UTCTimeZone()),
        " is still trusted; retire it first with: skerry-coordinator "
        "retire-ca"));
  }
  SKERRY_ASSIGN_OR_RETURN(const identity::Authority next,
                          present.writes.MakeNext(kLifetime, now));
  SKERRY_ASSIGN_OR_RETURN(const identity::Certificate voucher,
                          present.writes.VouchFor(next, now));
  SKERRY_ASSIGN_OR_RETURN(const Generations found,
                          FindGenerations(folder, files));
  const std::string own = FolderOf(folder, found.writes + 1);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(own));
  SKERRY_RETURN_IF_ERROR(WriteText(own + kVoucher, voucher.Pem(), files));
  SKERRY_RETURN_IF_ERROR(WriteAuthority(own, next, files));
  return files.Remove(FolderOf(folder, found.writes) + kKey);
}

absl::Status RetireAuthority(const std::string& folder, bool at_once,
                             absl::Time now, runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const Authorities present,
                          ReadAuthorities(folder, files));
  if (!present.before.has_value()) {
    return absl::FailedPreconditionError(
        "no CA was replaced; make the next one with: skerry-coordinator "
        "replace-ca");
  }
  const absl::Time end = present.before->voucher.not_before() + kRetireAfter;
  if (!at_once && now < end) {
    return absl::FailedPreconditionError(absl::StrCat(
        "some workers may have a certificate of the old CA until ",
        absl::FormatTime("%Y-%m-%d %H:%M UTC", end, absl::UTCTimeZone()),
        "; come back then, or shut them out with --at-once"));
  }
  SKERRY_ASSIGN_OR_RETURN(const Generations found,
                          FindGenerations(folder, files));
  const std::string old = FolderOf(folder, found.before);
  // The first of these ends the trust. Nothing reads the others then.
  for (const char* file : {kCertificate, kKey, kVoucher}) {
    SKERRY_RETURN_IF_ERROR(files.Remove(old + file));
  }
  return files.RemoveDirectory(old);
}

}  // namespace skerry::coordinator
