#include "model/spec/graph_builder.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;

int AddStream(GraphBuilder& builder, int width) {
  Operator op;
  op.kind = OperatorKind::kEmbedding;
  op.out_width = width;
  op.weight = builder.layout().Add("table", {9, width}, Initializer::kNormal);
  return builder.Emit(std::move(op));
}

TEST(GraphBuilderTest, LinearWeightsLieEitherWay) {
  GraphBuilder builder;
  const int stream = AddStream(builder, 6);
  const LinearTensors plain =
      builder.AddLinear("a", 6, 4, false, true, Initializer::kNormal);
  const LinearTensors turned =
      builder.AddLinear("b", 6, 4, true, false, Initializer::kNormal);
  EXPECT_EQ(builder.Width(builder.Linear("a", stream, plain)), 4);
  const ParameterLayout& layout = builder.layout();
  EXPECT_THAT(layout.tensor(plain.weight).shape, ElementsAre(6, 4));
  EXPECT_THAT(layout.tensor(plain.bias).shape, ElementsAre(4));
  EXPECT_THAT(layout.tensor(turned.weight).shape, ElementsAre(4, 6));
  EXPECT_EQ(turned.bias, kNone);
}

TEST(GraphBuilderTest, HeadAndLossEndTheGraph) {
  GraphBuilder builder;
  const int stream = AddStream(builder, 6);
  const Graph graph = std::move(builder).Finish(stream, 9, /*table=*/0);
  ASSERT_EQ(graph.operators.size(), 3);
  EXPECT_EQ(graph.operators[1].weight, 0);
  EXPECT_TRUE(graph.operators[1].weight_is_transposed);
  EXPECT_EQ(graph.operators[2].kind, OperatorKind::kCrossEntropy);
  EXPECT_EQ(graph.operators[2].output, kNone);
  EXPECT_EQ(graph.layout.tensors().size(), 1);
}

TEST(GraphBuilderTest, AHeadWithoutATableGetsItsOwn) {
  GraphBuilder builder;
  const int stream = AddStream(builder, 6);
  const Graph graph = std::move(builder).Finish(stream, 9, kNone);
  EXPECT_THAT(graph.layout.tensor(*graph.layout.Find("lm_head.weight")).shape,
              ElementsAre(9, 6));
}

}  // namespace
}  // namespace skerry::model
