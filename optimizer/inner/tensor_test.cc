#include "optimizer/inner/tensor.h"

#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

TEST(TensorTest, PiecesCoverEachTensorAndPackItsState) {
  const std::vector<Tensor> tensors = {
      {{3, 5}}, {{10, 10}}, {{10, 10 + 40000}, true}, {{50011, 50012}}};
  uint64_t state = 0;
  std::vector<uint64_t> covered(tensors.size());
  for (const Piece& piece : CutIntoPieces(tensors)) {
    const Tensor& tensor = tensors[piece.tensor];
    EXPECT_EQ(piece.state, state);
    EXPECT_EQ(piece.range.begin, tensor.range.begin + covered[piece.tensor]);
    EXPECT_LE(piece.range.end, tensor.range.end);
    EXPECT_GT(piece.range.size(), 0u);
    state += piece.range.size();
    covered[piece.tensor] += piece.range.size();
  }
  for (size_t t = 0; t < tensors.size(); ++t) {
    EXPECT_EQ(covered[t], tensors[t].range.size()) << t;
  }
  EXPECT_EQ(state, ElementCount(tensors));
}

TEST(TensorDeathTest, TensorsMayNotOverlap) {
  const std::vector<Tensor> tensors = {{{0, 5}}, {{4, 6}}};
  EXPECT_DEATH(CutIntoPieces(tensors), "");
}

}  // namespace
}  // namespace skerry::optimizer
