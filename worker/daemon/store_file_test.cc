#include "worker/daemon/store_file.h"

#include <string_view>

#include "base/hash.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

SharedBytes Bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return SharedBytes(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

struct Sample {
  StoredFile file;
  std::vector<SharedBytes> contents;
};

Sample MakeSample() {
  Sample sample;
  sample.file.kind = PieceKey::Kind::kResult;
  sample.file.sequence = Sequence(7);
  sample.file.attempt = Attempt(41);
  uint32_t span = 3;
  for (const char* text : {"first piece", "", "third"}) {
    sample.contents.push_back(Bytes(text));
    sample.file.pieces.push_back(
        {span, Hash64(sample.contents.back().bytes())});
    span += 2;
  }
  return sample;
}

std::vector<std::byte> WholeFile(const Sample& sample) {
  std::vector<std::byte> bytes =
      EncodeStoreHeader(sample.file, sample.contents);
  for (const SharedBytes& content : sample.contents) {
    bytes.insert(bytes.end(), content.bytes().begin(), content.bytes().end());
    bytes.resize((bytes.size() + 63) / 64 * 64);
  }
  return bytes;
}

TEST(StoreFileTest, HeaderComesBackAndPointsAtTheContents) {
  const Sample sample = MakeSample();
  const std::vector<std::byte> bytes = WholeFile(sample);
  const auto header = DecodeStoreHeader(bytes);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->file, sample.file);
  for (size_t i = 0; i < sample.contents.size(); ++i) {
    const PieceExtent extent = header->extents[i];
    EXPECT_EQ(Hash64(std::span<const std::byte>(bytes).subspan(extent.offset,
                                                               extent.size)),
              sample.file.pieces[i].hash);
  }
}

TEST(StoreFileTest, ABaseOfInitialValuesNamesThem) {
  Sample sample = MakeSample();
  sample.file.kind = PieceKey::Kind::kBase;
  sample.file.attempt = Attempt();
  sample.file.initial_hash = 0xf1;
  const std::vector<std::byte> bytes = WholeFile(sample);
  const auto header = DecodeStoreHeader(bytes);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->file, sample.file);
  const PieceExtent extent = header->extents.back();
  EXPECT_EQ(Hash64(std::span<const std::byte>(bytes).subspan(extent.offset,
                                                             extent.size)),
            sample.file.pieces.back().hash);
  EXPECT_EQ(StoreFileName(sample.file), "base-7-i00000000000000f1-3-7.skerry");
  // A result is of an attempt, and not of initial values.
  sample.file.kind = PieceKey::Kind::kResult;
  const auto result = DecodeStoreHeader(WholeFile(sample));
  EXPECT_NE(result.status().message().find("hash of initial values"),
            std::string_view::npos)
      << result.status();
}

TEST(StoreFileTest, NameTellsKindSequenceAttemptAndSpans) {
  StoredFile file = MakeSample().file;
  EXPECT_EQ(StoreFileName(file), "result-7-41-3-7.skerry");
  EXPECT_EQ(FormerStoreFileName(file), "result-7-41-3.skerry");
  file.kind = PieceKey::Kind::kBase;
  EXPECT_EQ(StoreFileName(file), "base-7-3-7.skerry");
  EXPECT_EQ(FormerStoreFileName(file), "base-7-3.skerry");
  file.fragment = 2;
  EXPECT_EQ(StoreFileName(file), "base-7-f2-3-7.skerry");
  EXPECT_EQ(FormerStoreFileName(file), "base-7-f2-3.skerry");
}

TEST(StoreFileTest, EveryFlippedBitOfTheHeadAndEveryCutIsRefused) {
  const std::vector<std::byte> whole = WholeFile(MakeSample());
  const size_t head = 40 + 3 * 32 + 8;
  for (size_t bit = 0; bit < head * 8; ++bit) {
    std::vector<std::byte> damaged = whole;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(absl::IsDataLoss(DecodeStoreHeader(damaged).status()))
        << "bit " << bit;
  }
  // The last content ends 59 bytes before the padded end.
  for (size_t size = 0; size < whole.size() - 59; ++size) {
    EXPECT_FALSE(DecodeStoreHeader(std::span(whole).first(size)).ok()) << size;
  }
}

}  // namespace
}  // namespace skerry::worker
