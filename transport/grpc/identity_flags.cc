#include "transport/grpc/identity_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "identity/x509/identity_folder.h"

namespace skerry::transport {
namespace {

constexpr char kRevokedFile[] = "/revoked.txt";

}  // namespace

CredentialFiles FilesIn(const std::string& folder) {
  return {folder + identity::kAuthoritiesFile, folder + identity::kChainFile,
          folder + identity::kKeyFile, folder + kRevokedFile};
}

void IdentityFlags::AddTo(CLI::App& app) {
  CLI::Option* const certificate =
      app.add_option("--cert", files.certificate,
                     "PEM file of this process's certificate and the CAs "
                     "above it");
  CLI::Option* const key =
      app.add_option("--key", files.key, "PEM file of the certificate's key");
  CLI::Option* const ca = app.add_option(
      "--ca", files.ca, "PEM file of the CAs whose certificates are believed");
  // A ring, so that the one that is named as missing is the same in every run.
  certificate->needs(key)->type_name("FILE");
  key->needs(ca)->type_name("FILE");
  ca->needs(certificate)->type_name("FILE");
  app.add_option(
         "--revoked", files.revoked,
         "File of certificates that are not believed any more, one name "
         "or serial number a line; default: none")
      ->needs(certificate)
      ->type_name("FILE");
  app.add_option("--identity", folder,
                 "Folder with cert.pem, key.pem, ca.pem and, if there is one, "
                 "revoked.txt; default: credentials in the state folder, if "
                 "there is one")
      ->type_name("FOLDER")
      ->excludes(certificate);
}

std::optional<CredentialFiles> IdentityFlags::Choose(
    const std::string& state) const {
  if (!files.certificate.empty()) return files;
  if (!folder.empty()) return FilesIn(folder);
  const CredentialFiles standard = FilesIn(state + identity::kIdentityFolder);
  std::error_code error;
  if (!std::filesystem::exists(standard.certificate, error)) {
    return std::nullopt;
  }
  return standard;
}

}  // namespace skerry::transport
