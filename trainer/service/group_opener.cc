#include "trainer/service/group_opener.h"

#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "runtime/posix/entropy.h"
#include "transport/rendezvous.h"
#include "transport/shm/shm_group.h"
#include "transport/tcp/tcp_group.h"

namespace skerry::trainer {

absl::StatusOr<std::string> GroupOpener::MakePlace(const std::string& address) {
  bootstrap_.clear();
  listener_.reset();
  if (address.empty()) {
    return transport::EncodeRendezvous(transport::ShmRendezvous{
        absl::StrFormat("/skerry-%016x%016x", runtime::DrawRandom64(),
                        runtime::DrawRandom64())});
  }
  SKERRY_ASSIGN_OR_RETURN(listener_, transport::TcpListener::Listen(address));
  bootstrap_ = transport::EncodeRendezvous(transport::TcpRendezvous{
      listener_->endpoint(), transport::DrawGroupSecret()});
  return bootstrap_;
}

absl::StatusOr<std::shared_ptr<transport::Group>> GroupOpener::Join(
    const GroupPlace& place) {
  SKERRY_ASSIGN_OR_RETURN(const transport::Rendezvous rendezvous,
                          transport::DecodeRendezvous(place.bootstrap));
  if (const auto* shm = std::get_if<transport::ShmRendezvous>(&rendezvous)) {
    return transport::ShmGroup::Open({.name = shm->name,
                                      .rank = place.rank,
                                      .size = place.size,
                                      .timeout = place.timeout});
  }
  transport::TcpGroupOptions options;
  options.rendezvous = std::get<transport::TcpRendezvous>(rendezvous);
  options.rank = place.rank;
  options.size = place.size;
  options.timeout = place.timeout;
  if (place.rank != 0) {
    SKERRY_ASSIGN_OR_RETURN(options.listener,
                            transport::TcpListener::Listen(place.address));
  } else if (place.bootstrap == bootstrap_) {
    options.listener = std::move(listener_);
  }
  if (options.listener == nullptr) {
    return absl::FailedPreconditionError(
        "rank 0 joins a group that this trainer has not opened, or twice");
  }
  return transport::TcpGroup::Open(std::move(options));
}

}  // namespace skerry::trainer
