// identity/operator_bundle.h
//
// What an operator needs to speak to a cluster, as one YAML file. It holds a
// private key, so only its owner may read it.
//
//   address: HOST:PORT
//   ca: |
//     -----BEGIN CERTIFICATE-----
//     ...
//   certificate: |
//     ...
//   key: |
//     ...
#ifndef SKERRY_IDENTITY_OPERATOR_BUNDLE_H_
#define SKERRY_IDENTITY_OPERATOR_BUNDLE_H_

#include <string>
#include <string_view>

namespace skerry::identity {

inline constexpr std::string_view kBundleAddress = "address";
inline constexpr std::string_view kBundleCa = "ca";
inline constexpr std::string_view kBundleCertificate = "certificate";
inline constexpr std::string_view kBundleKey = "key";

struct OperatorBundle {
  // host:port of the coordinator.
  std::string address;
  // Texts in PEM.
  std::string authorities;
  std::string chain;
  std::string key;
};

// `whose` is a line about the holder, which becomes a comment.
// Requires: `whose` has no line feed.
std::string FormatBundle(const OperatorBundle& bundle, std::string_view whose);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_OPERATOR_BUNDLE_H_
