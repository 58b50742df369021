#include "data/prepare/testing/packed_text.h"

// What zlib reads it does not change.
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/check.h"

namespace skerry::data::testing {

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  SKERRY_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  SKERRY_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
  SKERRY_CHECK(!ZSTD_isError(size));
  packed.resize(size);
  return packed;
}

}  // namespace skerry::data::testing
