#include "identity/x509/identity_folder.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::identity {
namespace {

absl::Status Wrong(std::string_view file, const absl::Status& why) {
  return absl::FailedPreconditionError(
      absl::StrCat(std::string(file.substr(1)), ": ", why.message()));
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::Status WriteText(const std::string& path, const std::string& text,
                       runtime::Files& files) {
  return files.WriteDurably(path, std::as_bytes(std::span(text)));
}

}  // namespace

absl::StatusOr<CheckedIdentity> CheckIdentity(const Identity& identity,
                                              absl::Time now) {
  auto authorities = Certificate::ParsePem(identity.authorities);
  if (!authorities.ok()) return Wrong(kAuthoritiesFile, authorities.status());
  auto chain = Certificate::ParsePem(identity.chain);
  if (!chain.ok()) return Wrong(kChainFile, chain.status());
  auto key = PrivateKey::FromPem(identity.key);
  if (!key.ok()) return Wrong(kKeyFile, key.status());
  const Certificate& own = chain->front();
  if (key->Public().Sha256() != own.public_key().Sha256()) {
    return Wrong(kKeyFile, absl::FailedPreconditionError(
                               "it is not the key of the certificate in "
                               "cert.pem"));
  }
  const absl::Status good = CheckChain(*chain, *authorities, now);
  if (!good.ok()) return Wrong(kChainFile, good);
  if (!own.name().ok()) return Wrong(kChainFile, own.name().status());
  Name name = *own.name();
  return CheckedIdentity{std::move(name), *std::move(authorities),
                         *std::move(chain), *std::move(key)};
}

absl::StatusOr<Identity> ReadIdentity(const std::string& folder,
                                      const runtime::Files& files) {
  Identity identity;
  SKERRY_ASSIGN_OR_RETURN(identity.authorities,
                          ReadText(folder + kAuthoritiesFile, files));
  SKERRY_ASSIGN_OR_RETURN(identity.chain, ReadText(folder + kChainFile, files));
  SKERRY_ASSIGN_OR_RETURN(identity.key, ReadText(folder + kKeyFile, files));
  return identity;
}

absl::Status WriteIdentity(const std::string& folder, const Identity& identity,
                           runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(folder));
  SKERRY_RETURN_IF_ERROR(WriteText(folder + kKeyFile, identity.key, files));
  SKERRY_RETURN_IF_ERROR(
      WriteText(folder + kAuthoritiesFile, identity.authorities, files));
  return WriteText(folder + kChainFile, identity.chain, files);
}

std::string MarkOf(std::string_view authorities, std::string_view above) {
  const std::string all =
      absl::StrCat(std::string(authorities), "\n", std::string(above));
  return Sha256Hex(std::as_bytes(std::span(all)));
}

absl::StatusOr<std::string> MarkOf(const Identity& identity) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Certificate> chain,
                          Certificate::ParsePem(identity.chain));
  std::string above;
  for (size_t i = 1; i < chain.size(); ++i) above += chain[i].Pem();
  return MarkOf(identity.authorities, above);
}

absl::StatusOr<PrivateKey> KeyOf(const std::string& folder,
                                 runtime::Files& files) {
  const std::string path = folder + kKeyFile;
  const absl::StatusOr<std::string> text = ReadText(path, files);
  if (text.ok()) {
    absl::StatusOr<PrivateKey> key = PrivateKey::FromPem(*text);
    if (!key.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": ", key.status().message(),
          "; remove the file, and a new key is made and needs a new token"));
    }
    return key;
  }
  if (!absl::IsNotFound(text.status())) return text.status();
  SKERRY_ASSIGN_OR_RETURN(PrivateKey key, PrivateKey::Make());
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(folder));
  SKERRY_RETURN_IF_ERROR(WriteText(path, key.Pem(), files));
  return key;
}

}  // namespace skerry::identity
