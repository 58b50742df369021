#include "base/sha256.h"

#include <string_view>

#include "gtest/gtest.h"

namespace skerry {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// FIPS 180-2, appendix B.1.
TEST(Sha256Test, MatchesThePublishedVector) {
  EXPECT_EQ(Sha256Hex(Bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Test, PiecesDoNotMatter) {
  Sha256 hash;
  hash.Update(Bytes("a"));
  hash.Update(Bytes("bc"));
  EXPECT_EQ(std::move(hash).HexDigest(), Sha256Hex(Bytes("abc")));
}

TEST(Sha256Test, AHashHas64LowerCaseDigits) {
  EXPECT_TRUE(IsSha256Hex(Sha256Hex(Bytes("abc"))));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'f')));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'F')));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'g')));
}

}  // namespace
}  // namespace skerry
