#include "identity/x509/certificate.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <cstddef>
#include <ctime>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::identity {
namespace {

constexpr size_t kPemBytesMax = 64 << 10;
constexpr size_t kChainMax = 8;
constexpr std::string_view kPinPrefix = "sha256:";

using StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using ContextPtr =
    std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;
using BignumPtr = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;

void FreeStack(STACK_OF(X509) * stack) { sk_X509_free(stack); }
using StackPtr = std::unique_ptr<STACK_OF(X509), FreeWith<FreeStack>>;

absl::StatusOr<Name> NameOf(const X509* certificate) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  std::vector<std::string> uris;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* one = sk_GENERAL_NAME_value(names.get(), i);
    if (one->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = one->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  if (uris.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the certificate has ", uris.size(), " URIs where one name belongs"));
  }
  return ParseName(uris[0]);
}

std::string SerialOf(const X509* certificate) {
  const BignumPtr number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  SKERRY_CHECK(number != nullptr);
  char* hex = BN_bn2hex(number.get());
  SKERRY_CHECK(hex != nullptr);
  std::string text(hex);
  OPENSSL_free(hex);
  const size_t digit = text.find_first_not_of('0');
  return digit == std::string::npos ? "0" : text.substr(digit);
}

absl::StatusOr<absl::Time> TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return Malformed("the certificate has a time that cannot be read");
  }
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// What to say of the error that OpenSSL found at a certificate of the chain.
std::string Explain(int error, const X509* at, absl::Time now) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED: {
      const auto end = TimeOf(X509_get0_notAfter(at));
      return absl::StrCat(
          "it has expired", end.ok() ? " at " + TimeText(*end) : "",
          " (this machine says that it is ", TimeText(now), ")");
    }
    case X509_V_ERR_CERT_NOT_YET_VALID: {
      const auto begin = TimeOf(X509_get0_notBefore(at));
      return absl::StrCat("it is not valid before ",
                          begin.ok() ? TimeText(*begin) : "some later time",
                          " (this machine says that it is ", TimeText(now),
                          "); is a clock wrong?");
    }
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "it does not come from a CA that is trusted here";
    default:
      return X509_verify_cert_error_string(error);
  }
}

absl::Status NotTrusted(const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("the certificate: ", why));
}

}  // namespace

Certificate::Certificate(X509Ptr certificate, PublicKey key)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      name_(NameOf(certificate_.get())),
      serial_(SerialOf(certificate_.get())),
      is_authority_(X509_check_ca(certificate_.get()) == 1) {}

absl::StatusOr<Certificate> Certificate::Adopt(X509Ptr certificate) {
  KeyPtr key(X509_get_pubkey(certificate.get()));
  if (key == nullptr) return Malformed("the certificate has no usable key");
  SKERRY_ASSIGN_OR_RETURN(const absl::Time begin,
                          TimeOf(X509_get0_notBefore(certificate.get())));
  SKERRY_ASSIGN_OR_RETURN(const absl::Time end,
                          TimeOf(X509_get0_notAfter(certificate.get())));
  Certificate adopted(std::move(certificate), PublicKey(std::move(key)));
  adopted.not_before_ = begin;
  adopted.not_after_ = end;
  return adopted;
}

absl::StatusOr<std::vector<Certificate>> Certificate::ParsePem(
    std::string_view pem) {
  if (pem.size() > kPemBytesMax) {
    return Malformed("the file of certificates is too long");
  }
  const BioPtr source = ReadFrom(pem);
  std::vector<Certificate> all;
  while (true) {
    X509Ptr one(PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    if (all.size() == kChainMax) {
      return Malformed("there are more than 8 certificates");
    }
    SKERRY_ASSIGN_OR_RETURN(Certificate certificate, Adopt(std::move(one)));
    all.push_back(std::move(certificate));
  }
  // The end of the text is reported as an error, too.
  const unsigned long last = ERR_peek_last_error();
  if (ERR_GET_LIB(last) != ERR_LIB_PEM ||
      ERR_GET_REASON(last) != PEM_R_NO_START_LINE) {
    return Malformed("there is a certificate that cannot be read");
  }
  if (all.empty()) return Malformed("there is no certificate in PEM");
  ERR_clear_error();
  return all;
}

std::string Certificate::Pem() const {
  const BioPtr sink = WriteToMemory();
  SKERRY_CHECK(PEM_write_bio_X509(sink.get(), certificate_.get()) == 1);
  return TextOf(sink);
}

absl::Status CheckChain(std::span<const Certificate> chain,
                        std::span<const Certificate> trusted, absl::Time now) {
  if (chain.empty()) return NotTrusted("there is none");
  const StorePtr store(X509_STORE_new());
  const StackPtr others(sk_X509_new_null());
  const ContextPtr context(X509_STORE_CTX_new());
  if (store == nullptr || others == nullptr || context == nullptr) {
    return LibraryFailed("check a certificate");
  }
  for (const Certificate& one : trusted) {
    if (X509_STORE_add_cert(store.get(), one.get()) != 1) {
      return LibraryFailed("trust a CA");
    }
  }
  for (const Certificate& one : chain.subspan(1)) {
    if (sk_X509_push(others.get(), one.get()) == 0) {
      return LibraryFailed("check a certificate");
    }
  }
  if (X509_STORE_CTX_init(context.get(), store.get(), chain[0].get(),
                          others.get()) != 1) {
    return LibraryFailed("check a certificate");
  }
  X509_STORE_CTX_set_time(context.get(), 0, absl::ToTimeT(now));
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (good) return absl::OkStatus();
  const X509* at = X509_STORE_CTX_get_current_cert(context.get());
  return NotTrusted(Explain(X509_STORE_CTX_get_error(context.get()),
                            at == nullptr ? chain[0].get() : at, now));
}

bool IsDueForRenewal(const Certificate& certificate, absl::Time now) {
  const absl::Duration life =
      certificate.not_after() - certificate.not_before();
  return now >= certificate.not_before() + life * 2 / 3;
}

std::string FormatPin(const PublicKey& key) {
  return absl::StrCat("sha256:", key.Sha256());
}

absl::Status CheckPin(std::string_view pin) {
  constexpr size_t kDigits = 64;
  if (pin.starts_with(kPinPrefix) &&
      pin.size() == kPinPrefix.size() + kDigits &&
      pin.substr(kPinPrefix.size()).find_first_not_of("0123456789abcdef") ==
          std::string_view::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "a pin is sha256: and 64 lower-case hexadecimal digits");
}

absl::StatusOr<Certificate> CheckPinned(std::span<const Certificate> chain,
                                        std::string_view pin, absl::Time now) {
  for (const Certificate& one : chain) {
    if (!one.is_authority() || FormatPin(one.public_key()) != pin) continue;
    SKERRY_RETURN_IF_ERROR(CheckChain(chain, std::span(&one, 1), now));
    return one;
  }
  return NotTrusted(
      "no CA in what the server sent has the public key that is pinned; this "
      "is "
      "another cluster, or somebody stands between");
}

}  // namespace skerry::identity
