#include "worker/daemon/ahead_file.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"
#include "worker/daemon/store_file.h"

namespace skerry::worker {
namespace {

constexpr char kPath[] = "result-8-9-3-6.skerry";

// The pieces have different sizes, and some of them need padding.
SharedBytes Content(uint32_t span) {
  return SharedBytes(std::vector<std::byte>(100 + 64 * span, std::byte(span)));
}

class AheadFileTest : public testing::Test {
 protected:
  AheadFileTest() {
    file_ = {PieceKey::Kind::kResult, Sequence(8), Attempt(9), {}};
    for (uint32_t span = 3; span < 7; ++span) {
      contents_.push_back(Content(span));
      file_.pieces.push_back({span, Hash64(contents_.back().bytes())});
    }
    begun_ = file_;
    for (StoredFile::Piece& piece : begun_.pieces) piece.hash = 0;
  }

  // What JobDisk writes when nothing was written ahead.
  std::vector<std::byte> Whole() const {
    std::vector<std::byte> whole = EncodeStoreHeader(file_, contents_);
    for (const SharedBytes& content : contents_) {
      whole.insert(whole.end(), content.bytes().begin(), content.bytes().end());
      whole.resize((whole.size() + 63) / 64 * 64);
    }
    return whole;
  }

  void ExpectWhole() const {
    const auto written = files_.Read(kPath);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(*written, Whole());
  }

  runtime::MemoryFiles files_;
  StoredFile file_;
  StoredFile begun_;  // without the hashes
  std::vector<SharedBytes> contents_;
};

TEST_F(AheadFileTest, HasTheSameBytesInEveryOrderOfItsPieces) {
  std::vector<size_t> order(contents_.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    // All of them come ahead, or the last ones do not.
    for (size_t come = 1; come <= order.size(); ++come) {
      AheadFile ahead(files_, kPath, begun_);
      for (size_t i = 0; i < come; ++i) {
        ahead.Put(order[i], contents_[order[i]]);
      }
      const bool has_first = std::find(order.begin(), order.begin() + come,
                                       0) != order.begin() + come;
      EXPECT_EQ(ahead.Finish(file_, contents_), has_first);
      if (!has_first) continue;
      ExpectWhole();
      ASSERT_TRUE(files_.Remove(kPath).ok());
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(AheadFileTest, WithoutAnyPieceItIsWrittenAnew) {
  EXPECT_FALSE(AheadFile(files_, kPath, begun_).Finish(file_, contents_));
  EXPECT_TRUE(absl::IsNotFound(files_.Read(kPath).status()));
}

TEST_F(AheadFileTest, OtherContentsAreWrittenAnew) {
  AheadFile ahead(files_, kPath, begun_);
  ahead.Put(0, Content(3));
  // Equal bytes are no proof; those that were given are.
  EXPECT_FALSE(ahead.Finish(file_, contents_));
  EXPECT_TRUE(absl::IsNotFound(files_.Read(kPath).status()));
}

TEST_F(AheadFileTest, AGivenUpFileLeavesNothing) {
  { AheadFile(files_, kPath, begun_).Put(0, contents_[0]); }
  EXPECT_EQ(files_.stored_bytes(), 0u);
}

TEST_F(AheadFileTest, AFailureOfTheDiskIsNoFile) {
  AheadFile ahead(files_, kPath, begun_);
  ahead.Put(0, contents_[0]);
  files_.FailChangesAfter(0, absl::ResourceExhaustedError("full"));
  EXPECT_FALSE(ahead.Finish(file_, contents_));
  files_.FailChangesAfter(0, absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(files_.Read(kPath).status()));
}

}  // namespace
}  // namespace skerry::worker
