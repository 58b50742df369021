// worker/main/own_addresses.h
//
// Says where others reach this worker.
#ifndef SKERRY_WORKER_MAIN_OWN_ADDRESSES_H_
#define SKERRY_WORKER_MAIN_OWN_ADDRESSES_H_

#include <string>
#include <vector>

namespace skerry::worker {

struct OwnAddresses {
  // For workers of other islands, in order of preference. Not empty.
  std::vector<std::string> outside;
  // For those of its own.
  std::string inside;
};

// `advertised` are those that the operator names. `wanted` is where the worker
// was to listen, and `listening` where it does, with the port that it got.
OwnAddresses AddressesOf(const std::vector<std::string>& advertised,
                         const std::string& wanted,
                         const std::string& listening);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_MAIN_OWN_ADDRESSES_H_
