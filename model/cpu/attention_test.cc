#include "model/cpu/attention.h"

#include <cmath>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "model/cpu/attention_blocks.h"
#include "model/cpu/dropout_mask.h"
#include "model/cpu/gemm.h"

namespace skerry::model::cpu {
namespace {

struct Sizes {
  int columns;
  int head_size;
  int group = 1;
  double dropout = 0;
};

enum class Kernel { kTiles, kBlocks };

size_t ScratchSize(Kernel kernel, int columns, int head_size) {
  return kernel == Kernel::kTiles
             ? AttentionScratchSize(columns, head_size)
             : BlockAttentionScratchSize(columns, head_size);
}

template <typename... Arguments>
void Forward(Kernel kernel, Arguments&&... arguments) {
  kernel == Kernel::kTiles
      ? AttentionForward(arguments...)
      : BlockAttentionForward(DefaultGemmBackend(), arguments...);
}

template <typename... Arguments>
void Backward(Kernel kernel, Arguments&&... arguments) {
  kernel == Kernel::kTiles
      ? AttentionBackward(arguments...)
      : BlockAttentionBackward(DefaultGemmBackend(), arguments...);
}

// What the probability of query t and key s is multiplied by.
double Factor(const AttentionShape& shape, int head, int t, int s) {
  if (shape.dropout == nullptr) return 1;
  DropoutMask mask = *shape.dropout;
  mask.stream += static_cast<uint32_t>(head);
  return DropoutFactor(mask, static_cast<uint32_t>(t), static_cast<size_t>(s));
}

// One head's rows, columns * head_size floats.
using Head = std::vector<float>;

// Attention and its gradients written out in float64 with the whole square.
struct Reference {
  std::vector<double> out, dq, dk, dv;
};

// Adds the gradients of key and value to those of `ref`.
void Compute(const AttentionShape& shape, int head, const Head& q,
             const Head& k, const Head& v, const Head& g, Reference& ref) {
  const int t_count = shape.columns;
  const int n = shape.head_size;
  const double scale = shape.scale;
  ref.out.assign(q.size(), 0.0);
  ref.dq.assign(q.size(), 0.0);
  ref.dk.resize(q.size());
  ref.dv.resize(q.size());
  const auto dot = [n](const Head& a, int i, const Head& b, int j) {
    double sum = 0;
    for (int d = 0; d < n; ++d) sum += double{a[i * n + d]} * b[j * n + d];
    return sum;
  };
  for (int t = 0; t < t_count; ++t) {
    std::vector<double> p(t + 1);
    double sum = 0;
    for (int s = 0; s <= t; ++s)
      sum += p[s] = std::exp(scale * dot(q, t, k, s));
    double mean = 0;
    for (int s = 0; s <= t; ++s) {
      p[s] /= sum;
      mean += p[s] * Factor(shape, head, t, s) * dot(g, t, v, s);
    }
    for (int s = 0; s <= t; ++s) {
      const double factor = Factor(shape, head, t, s);
      const double ds = scale * p[s] * (factor * dot(g, t, v, s) - mean);
      for (int d = 0; d < n; ++d) {
        ref.out[t * n + d] += p[s] * factor * v[s * n + d];
        ref.dv[s * n + d] += p[s] * factor * g[t * n + d];
        ref.dq[t * n + d] += ds * k[s * n + d];
        ref.dk[s * n + d] += ds * q[t * n + d];
      }
    }
  }
}

// Rows of `stride` floats that hold `head` at `offset`.
void Place(const Head& head, size_t n, size_t stride, size_t offset,
           std::vector<float>& rows) {
  for (size_t i = 0; i < head.size(); ++i) {
    rows[i / n * stride + offset + i % n] = head[i];
  }
}

void ExpectRows(const std::vector<double>& head, size_t n, size_t stride,
                size_t offset, const std::vector<float>& rows,
                const char* what) {
  for (size_t i = 0; i < head.size(); ++i) {
    EXPECT_NEAR(rows[i / n * stride + offset + i % n], head[i], 3e-5)
        << what << " " << i / n << " " << i % n;
  }
}

class AttentionShapeTest
    : public ::testing::TestWithParam<std::tuple<Kernel, Sizes>> {};

TEST_P(AttentionShapeTest, OutputAndGradientsMatchFloat64) {
  const auto [kernel, sizes] = GetParam();
  const size_t n = sizes.head_size;
  const size_t columns = sizes.columns;
  const size_t group = sizes.group;
  Random random(sizes.columns);
  const auto draw = [&] {
    Head values(columns * n);
    for (float& v : values) v = static_cast<float>(2 * random.Uniform() - 1);
    return values;
  };
  DropoutMask mask = MaskOfRate(sizes.dropout);
  mask.seed = 11;
  mask.sample = 5;
  mask.stream = 3;
  const AttentionShape shape{.columns = sizes.columns,
                             .head_size = sizes.head_size,
                             .group = sizes.group,
                             .query_stride = group * n + 4,
                             .key_stride = 2 * n + 5,
                             .out_stride = group * n + 3,
                             .scale = 0.7f,
                             .dropout = sizes.dropout > 0 ? &mask : nullptr};
  // As in a model: heads lie side by side, others around them.
  std::vector<float> query(columns * shape.query_stride, 9.0f);
  std::vector<float> key_value(columns * shape.key_stride, 9.0f);
  std::vector<float> out(columns * shape.out_stride, 9.0f), dout = out;
  const Head k = draw(), v = draw();
  Place(k, n, shape.key_stride, 1, key_value);
  Place(v, n, shape.key_stride, n + 2, key_value);
  std::vector<Reference> heads(group);
  Reference sums;
  for (size_t head = 0; head < group; ++head) {
    const Head q = draw(), g = draw();
    Place(q, n, shape.query_stride, 1 + head * n, query);
    Place(g, n, shape.out_stride, 2 + head * n, dout);
    Compute(shape, static_cast<int>(head), q, k, v, g, sums);
    heads[head] = sums;
  }
  std::vector<float> log_sum(group * columns);
  std::vector<float> scratch(
      ScratchSize(kernel, sizes.columns, sizes.head_size),
      std::nanf(""));  // nothing may be read before it is written
  Forward(kernel, shape, &query[1], &key_value[1], &key_value[n + 2], &out[2],
          log_sum.data(), scratch);
  std::vector<float> dquery(query.size(), 9.0f);
  std::vector<float> dkey_value(key_value.size(), 9.0f);
  const AttentionGradients gradients = {&dquery[1], &dkey_value[1],
                                        &dkey_value[n + 2]};
  Backward(kernel, shape, &query[1], &key_value[1], &key_value[n + 2], &out[2],
           log_sum.data(), &dout[2], gradients, scratch);
  for (size_t head = 0; head < group; ++head) {
    ExpectRows(heads[head].out, n, shape.out_stride, 2 + head * n, out, "out");
    ExpectRows(heads[head].dq, n, shape.query_stride, 1 + head * n, dquery,
               "query");
  }
  ExpectRows(sums.dk, n, shape.key_stride, 1, dkey_value, "key");
  ExpectRows(sums.dv, n, shape.key_stride, n + 2, dkey_value, "value");
  for (size_t t = 0; t < columns; ++t) {
    EXPECT_EQ(out[t * shape.out_stride + 1], 9.0f) << "written beside the head";
    EXPECT_EQ(dquery[t * shape.query_stride + 1 + group * n], 9.0f);
    EXPECT_EQ(dkey_value[t * shape.key_stride + n + 1], 9.0f);
  }
}

// The running softmax: the largest score comes in the last tile, and is too
// large for the exponential of a score alone.
class AttentionTest : public ::testing::TestWithParam<Kernel> {};

TEST_P(AttentionTest, ScoresThatGrowFromTileToTileKeepTheirSoftmax) {
  constexpr int kColumns = 350;
  const std::vector<float> query(kColumns, 1.0f);
  std::vector<float> key(kColumns), value(kColumns);
  for (int t = 0; t < kColumns; ++t) {
    key[t] = static_cast<float>(t);
    value[t] = static_cast<float>(t % 5);
  }
  const AttentionShape shape{.columns = kColumns,
                             .head_size = 1,
                             .query_stride = 1,
                             .key_stride = 1,
                             .out_stride = 1,
                             .scale = 1};
  std::vector<float> out(kColumns), log_sum(kColumns);
  std::vector<float> scratch(ScratchSize(GetParam(), kColumns, 1),
                             std::nanf(""));
  Forward(GetParam(), shape, query.data(), key.data(), value.data(), out.data(),
          log_sum.data(), scratch);
  for (int t = 0; t < kColumns; ++t) {
    double sum = 0, mixed = 0;
    for (int s = 0; s <= t; ++s) {
      sum += std::exp(static_cast<double>(s - t));
      mixed += std::exp(static_cast<double>(s - t)) * value[s];
    }
    EXPECT_NEAR(out[t], mixed / sum, 1e-5) << t;
    EXPECT_NEAR(log_sum[t], t + std::log(sum), 1e-4) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionShapeTest,
    ::testing::Combine(
        ::testing::Values(Kernel::kTiles, Kernel::kBlocks),
        ::testing::Values(Sizes{1, 1}, Sizes{1, 16}, Sizes{5, 10},
                          Sizes{16, 16}, Sizes{17, 8}, Sizes{64, 32},
                          Sizes{70, 33}, Sizes{100, 64}, Sizes{128, 16},
                          Sizes{197, 40}, Sizes{65, 1}, Sizes{19, 6, 2},
                          Sizes{70, 33, 3}, Sizes{33, 16, 4}, Sizes{150, 7, 2},
                          Sizes{337, 20, 2}, Sizes{461, 9},
                          Sizes{5, 10, 1, 0.5}, Sizes{197, 40, 1, 0.1},
                          Sizes{70, 33, 3, 0.25}, Sizes{337, 7, 2, 0.5})));
INSTANTIATE_TEST_SUITE_P(Kernels, AttentionTest,
                         ::testing::Values(Kernel::kTiles, Kernel::kBlocks));

}  // namespace
}  // namespace skerry::model::cpu
