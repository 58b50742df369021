// Codecs as C functions, for bench/micro/codec_peers, which calls those of
// others in the same process on the same buffers.
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "compression/codec.h"
#include "compression/workspace.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::bench {
namespace {

using compression::Codec;

const Codec* Find(std::string_view name) {
  const auto id = compression::ParseCodecName(name);
  return id.ok() ? *compression::FindCodec(*id) : nullptr;
}

// A codec, its threads, and the payload that it encoded last.
struct Calls {
  Calls(const Codec* called, int threads)
      : codec(called), pool("codec", threads), workspace(pool) {}

  const Codec* const codec;
  runtime::ThreadPool pool;
  compression::Workspace workspace;
  std::vector<std::byte> payload;
};

}  // namespace
}  // namespace skerry::bench

extern "C" {

using skerry::bench::Calls;

// For ever; null where no codec has that name.
Calls* codec_calls(const char* name, int threads) {
  const auto* const codec = skerry::bench::Find(name);
  return codec == nullptr ? nullptr : new Calls(codec, threads);
}

// False where values are not finite, or the payload is of others.
bool codec_encode(Calls* calls, const float* values, size_t count) {
  return calls->codec
      ->Encode(std::span(values, count), calls->payload, calls->workspace)
      .ok();
}
bool codec_decode(Calls* calls, float* values, size_t count) {
  return calls->codec
      ->Decode(calls->payload, std::span(values, count), calls->workspace)
      .ok();
}

}  // extern "C"
