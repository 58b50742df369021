#include "model/cpu/attention.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

struct Sizes {
  int columns;
  int head_size;
};

// Attention and its gradients written out in float64 with the whole square.
struct Reference {
  std::vector<double> out, dq, dk, dv;
};

Reference Compute(const Sizes& sizes, double scale, const std::vector<float>& q,
                  const std::vector<float>& k, const std::vector<float>& v,
                  const std::vector<float>& g) {
  const int t_count = sizes.columns;
  const int n = sizes.head_size;
  Reference ref;
  for (auto* part : {&ref.out, &ref.dq, &ref.dk, &ref.dv}) {
    part->assign(q.size(), 0.0);
  }
  const auto dot = [n](const std::vector<float>& a, int i,
                       const std::vector<float>& b, int j) {
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
      mean += p[s] * dot(g, t, v, s);
    }
    for (int s = 0; s <= t; ++s) {
      const double ds = scale * p[s] * (dot(g, t, v, s) - mean);
      for (int d = 0; d < n; ++d) {
        ref.out[t * n + d] += p[s] * v[s * n + d];
        ref.dv[s * n + d] += p[s] * g[t * n + d];
        ref.dq[t * n + d] += ds * k[s * n + d];
        ref.dk[s * n + d] += ds * q[t * n + d];
      }
    }
  }
  return ref;
}

class AttentionTest : public ::testing::TestWithParam<Sizes> {
 protected:
  // Rows of `stride` floats that hold `part` at `offset`.
  static void Place(const std::vector<float>& part, size_t n, size_t stride,
                    size_t offset, std::vector<float>& rows) {
    for (size_t i = 0; i < part.size(); ++i) {
      rows[i / n * stride + offset + i % n] = part[i];
    }
  }
  static void ExpectRows(const std::vector<double>& part, size_t n,
                         size_t stride, size_t offset,
                         const std::vector<float>& rows, const char* what) {
    for (size_t i = 0; i < part.size(); ++i) {
      EXPECT_NEAR(rows[i / n * stride + offset + i % n], part[i], 2e-5)
          << what << " " << i / n << " " << i % n;
    }
  }
};

TEST_P(AttentionTest, OutputAndGradientsMatchFloat64) {
  const Sizes sizes = GetParam();
  const size_t n = sizes.head_size;
  const size_t count = sizes.columns * n;
  Random random(sizes.columns);
  const auto draw = [&] {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(2 * random.Uniform() - 1);
    return values;
  };
  const auto q = draw(), k = draw(), v = draw(), g = draw();
  const float scale = 0.7f;
  const Reference ref = Compute(sizes, scale, q, k, v, g);

  // As in a model: the three lie side by side, other heads around them.
  const size_t stride = 3 * n + 5;
  const size_t out_stride = n + 3;
  std::vector<float> qkv(sizes.columns * stride, 9.0f);
  Place(q, n, stride, 1, qkv);
  Place(k, n, stride, n + 2, qkv);
  Place(v, n, stride, 2 * n + 3, qkv);
  std::vector<float> out(sizes.columns * out_stride, 9.0f);
  std::vector<float> dout(out.size(), 9.0f);
  Place(g, n, out_stride, 2, dout);
  std::vector<float> log_sum(sizes.columns);
  std::vector<float> scratch(
      AttentionScratchSize(sizes.columns, sizes.head_size),
      std::nanf(""));  // nothing may be read before it is written
  const AttentionShape shape{.columns = sizes.columns,
                             .head_size = sizes.head_size,
                             .stride = stride,
                             .out_stride = out_stride,
                             .scale = scale};
  AttentionForward(shape, &qkv[1], &qkv[n + 2], &qkv[2 * n + 3], &out[2],
                   log_sum.data(), scratch);
  ExpectRows(ref.out, n, out_stride, 2, out, "out");

  std::vector<float> gradients(qkv.size(), 9.0f);
  AttentionBackward(shape, &qkv[1], &qkv[n + 2], &qkv[2 * n + 3], &out[2],
                    log_sum.data(), &dout[2],
                    {&gradients[1], &gradients[n + 2], &gradients[2 * n + 3]},
                    scratch);
  ExpectRows(ref.dq, n, stride, 1, gradients, "query");
  ExpectRows(ref.dk, n, stride, n + 2, gradients, "key");
  ExpectRows(ref.dv, n, stride, 2 * n + 3, gradients, "value");
  for (int t = 0; t < sizes.columns; ++t) {
    EXPECT_EQ(out[t * out_stride], 9.0f) << "written beside the head";
    EXPECT_EQ(gradients[t * stride + n + 1], 9.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTest,
                         ::testing::Values(Sizes{1, 1}, Sizes{1, 16},
                                           Sizes{5, 10}, Sizes{16, 16},
                                           Sizes{17, 8}, Sizes{64, 32},
                                           Sizes{70, 33}, Sizes{100, 64}));

}  // namespace
}  // namespace skerry::model::cpu
