// transport/testing/frames.h
//
// Frames and bytes to send in tests.
#ifndef SKERRY_TRANSPORT_TESTING_FRAMES_H_
#define SKERRY_TRANSPORT_TESTING_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "transport/bulk.h"

namespace skerry::transport {

inline SharedBytes RandomPayload(uint64_t seed, size_t size) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0xff);
  return SharedBytes(std::move(bytes));
}

// Part `part` of an attempt, with bytes that depend on all arguments.
inline Frame MakeFrame(uint64_t attempt, uint32_t part, size_t size) {
  Frame frame;
  frame.header.job = 7;
  frame.header.fragment = 3;
  frame.header.sequence = 11;
  frame.header.attempt = attempt;
  frame.header.sender = 2;
  frame.header.part = part;
  frame.header.parts = 1000;
  frame.payload = RandomPayload(Mix64(attempt) + part, size);
  frame.header.payload_bytes = size;
  frame.header.payload_hash = Hash64(frame.payload.bytes());
  return frame;
}

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_FRAMES_H_
