// transport/grpc/testing/plaintext.h
//
// Ports and channels of tests, which stay on this machine.
#ifndef SKERRY_TRANSPORT_GRPC_TESTING_PLAINTEXT_H_
#define SKERRY_TRANSPORT_GRPC_TESTING_PLAINTEXT_H_

#include <memory>
#include <string>

#include "transport/grpc/credentials.h"

namespace skerry::transport {

inline std::shared_ptr<grpc::Channel> PlaintextChannel(
    const std::string& address, const grpc::ChannelArguments& arguments = {}) {
  return Credentials::Plaintext()->ChannelTo(address, ServerKind::kCoordinator,
                                             arguments);
}

inline void AddPlaintextPort(const std::string& address,
                             grpc::ServerBuilder& builder,
                             int* port = nullptr) {
  Credentials::Plaintext()->AddPort(address, builder, port);
}

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TESTING_PLAINTEXT_H_
