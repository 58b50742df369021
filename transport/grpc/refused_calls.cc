#include "transport/grpc/refused_calls.h"

namespace skerry::transport {

std::string_view Word(CallRefusal refusal) {
  switch (refusal) {
    case CallRefusal::kNoCertificate:
      return "no_certificate";
    case CallRefusal::kNotBelieved:
      return "not_believed";
    case CallRefusal::kNotAllowed:
      return "not_allowed";
  }
  return "not_allowed";
}

}  // namespace skerry::transport
