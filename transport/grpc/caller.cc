#include "transport/grpc/caller.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "identity/x509/certificate.h"

namespace skerry::transport {
namespace {

constexpr char kCertificateProperty[] = "x509_pem_cert";

}  // namespace

absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& context) {
  const std::vector<grpc::string_ref> shown =
      context.FindPropertyValues(kCertificateProperty);
  if (shown.empty()) return Caller();
  const absl::StatusOr<std::vector<identity::Certificate>> certificates =
      identity::Certificate::ParsePem(
          std::string_view(shown.front().data(), shown.front().size()));
  absl::Status wrong = certificates.status();
  if (wrong.ok()) wrong = certificates->front().name().status();
  if (!wrong.ok()) return absl::UnauthenticatedError(wrong.message());
  const identity::Certificate& own = certificates->front();
  return Caller{*own.name(), own.serial(), own.not_after()};
}

absl::Status CheckBelieved(const Revocations& revocations,
                           std::string_view name, std::string_view serial) {
  if (!revocations.Contain(name, serial)) return absl::OkStatus();
  return absl::UnauthenticatedError(
      absl::StrCat("the certificate of ", std::string(name), " is revoked"));
}

std::string Describe(const Caller& caller) {
  return caller.name.has_value() ? identity::FormatName(*caller.name)
                                 : "nobody";
}

}  // namespace skerry::transport
