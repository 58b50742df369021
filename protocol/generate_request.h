// protocol/generate_request.h
//
// Defines the text that a trainer is asked to continue.
#ifndef SKERRY_PROTOCOL_GENERATE_REQUEST_H_
#define SKERRY_PROTOCOL_GENERATE_REQUEST_H_

#include <cstdint>
#include <string>

namespace skerry::protocol {

struct GenerateRequest {
  std::string prompt;
  // The most tokens to add. The text ends earlier at a tokenizer's end of a
  // document.
  uint64_t tokens = 0;
  // 0 takes the likeliest token every time.
  double temperature = 0;
  uint64_t seed = 0;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_GENERATE_REQUEST_H_
