#include "identity/x509/authority.h"

#include <openssl/bn.h>
#include <openssl/err.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "identity/x509/openssl.h"

namespace skerry::identity {
namespace {

constexpr absl::Duration kClocksBehindMax = absl::Minutes(5);
constexpr int kSerialBits = 127;

using BignumPtr = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;
using ExtensionPtr =
    std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;
using GeneralNamePtr =
    std::unique_ptr<GENERAL_NAME, FreeWith<GENERAL_NAME_free>>;

// Fills a certificate in. After the first failure nothing more is done, and
// `fine` says so.
class Draft {
 public:
  Draft() : certificate_(X509_new()) {
    Keep(certificate_ != nullptr && X509_set_version(get(), X509_VERSION_3));
  }

  void SetSerial() {
    const BignumPtr number(BN_new());
    Keep(fine_ && number != nullptr &&
         BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE,
                 BN_RAND_BOTTOM_ANY) &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(get())) !=
             nullptr);
  }
  void SetTimes(absl::Time begin, absl::Time end) {
    Keep(fine_ &&
         ASN1_TIME_set(X509_getm_notBefore(get()), absl::ToTimeT(begin)) !=
             nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(get()), absl::ToTimeT(end)) !=
             nullptr);
  }
  void SetKey(const PublicKey& key) {
    Keep(fine_ && X509_set_pubkey(get(), key.get()));
  }
  // The subject is for people who look at certificates; nothing reads it.
  void AddSubject(int nid, const std::string& text) {
    Keep(fine_ &&
         X509_NAME_add_entry_by_NID(
             X509_get_subject_name(get()), nid, MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0));
  }
  void SetSubject(const X509* same) {
    Keep(fine_ && X509_set_subject_name(get(), X509_get_subject_name(same)));
  }
  void SetIssuer(const X509* issuer) {
    Keep(fine_ && X509_set_issuer_name(get(), X509_get_subject_name(issuer)));
    issuer_ = issuer;
  }
  // `value` in the words of OpenSSL's configuration, which are constants here.
  void Add(int nid, const char* value) {
    if (!fine_) return;
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    // OpenSSL takes a pointer to something that it does not change.
    X509V3_set_ctx(&context, const_cast<X509*>(issuer_), get(), nullptr,
                   nullptr, 0);
    const ExtensionPtr extension(
        X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    Keep(extension != nullptr && X509_add_ext(get(), extension.get(), -1));
  }
  void AddNames(const std::string& uri) {
    const NamesPtr names(GENERAL_NAMES_new());
    Keep(fine_ && names != nullptr);
    AddName(names.get(), GEN_URI, uri);
    AddName(names.get(), GEN_DNS, kHostName);
    Keep(fine_ && X509_add1_ext_i2d(get(), NID_subject_alt_name, names.get(), 0,
                                    X509V3_ADD_DEFAULT));
  }
  void AddWhatAuthoritiesHave() {
    Add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    Add(NID_key_usage, "critical,keyCertSign,cRLSign");
    Add(NID_subject_key_identifier, "hash");
  }
  absl::StatusOr<Certificate> Sign(const PrivateKey& key) && {
    Keep(fine_ && X509_sign(get(), key.get(), EVP_sha256()) > 0);
    if (!fine_) return LibraryFailed("write a certificate");
    return Certificate::Adopt(std::move(certificate_));
  }
  X509* get() const { return certificate_.get(); }

 private:
  void Keep(bool fine) { fine_ = fine_ && fine; }
  void AddName(GENERAL_NAMES* names, int type, const std::string& text) {
    if (!fine_) return;
    GeneralNamePtr name(GENERAL_NAME_new());
    ASN1_IA5STRING* value = ASN1_IA5STRING_new();
    Keep(name != nullptr && value != nullptr);
    if (!fine_) return ASN1_IA5STRING_free(value);
    GENERAL_NAME_set0_value(name.get(), type, value);
    Keep(ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) &&
         sk_GENERAL_NAME_push(names, name.get()) > 0);
    if (fine_) name.release();
  }

  X509Ptr certificate_;
  const X509* issuer_ = nullptr;
  bool fine_ = true;
};

std::string CommonNameOf(const Name& name) {
  if (const auto* worker = std::get_if<WorkerName>(&name.who)) {
    return worker->worker;
  }
  if (const auto* who = std::get_if<OperatorName>(&name.who)) return who->name;
  return "coordinator";
}

}  // namespace

absl::StatusOr<Authority> Authority::Make(std::string_view cluster,
                                          absl::Duration lifetime,
                                          absl::Time now) {
  SKERRY_RETURN_IF_ERROR(CheckCluster(cluster));
  SKERRY_ASSIGN_OR_RETURN(PrivateKey key, PrivateKey::Make());
  Draft draft;
  draft.SetSerial();
  draft.SetTimes(now - kClocksBehindMax, now + lifetime);
  draft.SetKey(key.Public());
  draft.AddSubject(NID_organizationName, std::string(cluster));
  draft.AddSubject(
      NID_commonName,
      absl::StrCat("skerry CA ", key.Public().Sha256().substr(0, 8)));
  draft.SetIssuer(draft.get());
  draft.AddWhatAuthoritiesHave();
  SKERRY_ASSIGN_OR_RETURN(Certificate certificate, std::move(draft).Sign(key));
  return Authority(std::move(certificate), std::move(key));
}

absl::StatusOr<Authority> Authority::MakeNext(absl::Duration lifetime,
                                              absl::Time now) const {
  SKERRY_ASSIGN_OR_RETURN(PrivateKey key, PrivateKey::Make());
  Draft draft;
  draft.SetSerial();
  draft.SetTimes(now - kClocksBehindMax, now + lifetime);
  draft.SetKey(key.Public());
  draft.SetSubject(certificate_.get());
  draft.SetIssuer(draft.get());
  draft.AddWhatAuthoritiesHave();
  SKERRY_ASSIGN_OR_RETURN(Certificate certificate, std::move(draft).Sign(key));
  return Authority(std::move(certificate), std::move(key));
}

absl::Status Authority::CheckEnd(absl::Time now) const {
  if (now < certificate_.not_after()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the cluster's CA has expired, so that no certificate can be written");
}

absl::StatusOr<Certificate> Authority::VouchFor(const Authority& next,
                                                absl::Time now) const {
  SKERRY_RETURN_IF_ERROR(CheckEnd(now));
  Draft draft;
  draft.SetSerial();
  draft.SetTimes(now - kClocksBehindMax, std::min(next.certificate_.not_after(),
                                                  certificate_.not_after()));
  draft.SetKey(next.key_.Public());
  draft.SetSubject(next.certificate_.get());
  draft.SetIssuer(certificate_.get());
  draft.AddWhatAuthoritiesHave();
  draft.Add(NID_authority_key_identifier, "keyid:always");
  return std::move(draft).Sign(key_);
}

absl::StatusOr<Authority> Authority::FromPem(std::string_view certificate,
                                             std::string_view key) {
  SKERRY_ASSIGN_OR_RETURN(std::vector<Certificate> all,
                          Certificate::ParsePem(certificate));
  SKERRY_ASSIGN_OR_RETURN(PrivateKey own, PrivateKey::FromPem(key));
  if (!all[0].is_authority()) {
    return absl::FailedPreconditionError("the CA's certificate is not of a CA");
  }
  if (own.Public().Sha256() != all[0].public_key().Sha256()) {
    return absl::FailedPreconditionError(
        "the CA's key is not that of its certificate");
  }
  return Authority(std::move(all[0]), std::move(own));
}

absl::StatusOr<Certificate> Authority::Issue(const Name& name,
                                             const PublicKey& key,
                                             absl::Duration lifetime,
                                             absl::Time now) const {
  SKERRY_RETURN_IF_ERROR(CheckEnd(now));
  Draft draft;
  draft.SetSerial();
  draft.SetTimes(now - kClocksBehindMax,
                 std::min(now + lifetime, certificate_.not_after()));
  draft.SetKey(key);
  draft.AddSubject(NID_commonName, CommonNameOf(name));
  draft.SetIssuer(certificate_.get());
  draft.Add(NID_basic_constraints, "critical,CA:FALSE");
  draft.Add(NID_key_usage, "critical,digitalSignature");
  // Workers serve each other. Operators serve nobody.
  draft.Add(NID_ext_key_usage, std::holds_alternative<OperatorName>(name.who)
                                   ? "clientAuth"
                                   : "serverAuth,clientAuth");
  draft.Add(NID_subject_key_identifier, "hash");
  draft.Add(NID_authority_key_identifier, "keyid:always");
  draft.AddNames(FormatName(name));
  return std::move(draft).Sign(key_);
}

}  // namespace skerry::identity
