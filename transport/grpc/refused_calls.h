// transport/grpc/refused_calls.h
//
// Counts the calls that a port with TLS refuses before a service sees them, and
// those that a relay refuses.
#ifndef SKERRY_TRANSPORT_GRPC_REFUSED_CALLS_H_
#define SKERRY_TRANSPORT_GRPC_REFUSED_CALLS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skerry::transport {

enum class CallRefusal {
  kNoCertificate,
  kNotBelieved,  // of another cluster, revoked, expired, or names nobody
  // The policy does not let the caller call the method, or the orders do not
  // let it use the relay.
  kNotAllowed,
};
inline constexpr std::array<CallRefusal, 3> kCallRefusals = {
    CallRefusal::kNoCertificate, CallRefusal::kNotBelieved,
    CallRefusal::kNotAllowed};

// Returns its name in metrics: "no_certificate", "not_believed", "not_allowed".
std::string_view Word(CallRefusal refusal);

// Any thread may call it.
class RefusedCalls {
 public:
  void Count(CallRefusal refusal) { ++counts_[static_cast<size_t>(refusal)]; }
  uint64_t count(CallRefusal refusal) const {
    return counts_[static_cast<size_t>(refusal)];
  }

 private:
  std::array<std::atomic<uint64_t>, kCallRefusals.size()> counts_ = {};
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REFUSED_CALLS_H_
