#include "optimizer/inner/muon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/inner/testing/plain_products.h"

namespace skerry::optimizer {
namespace {

// A bias, two matrices with one between them that is not hidden, a gap.
const std::vector<Tensor>& Tensors() {
  static const auto& tensors = *new std::vector<Tensor>{
      {{0, 6}},
      {{6, 6 + 60}, true, 6, 10},
      {{66, 80}, true},
      {{80, 80 + 84}, true, 12, 7},
  };
  return tensors;
}
constexpr size_t kCount = 170;

std::vector<float> RandomValues(uint64_t seed) {
  Random random(seed);
  std::vector<float> values(kCount);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

using Matrix = std::vector<double>;  // row-major

Matrix Product(const Matrix& a, const Matrix& b, int m, int n, int k) {
  Matrix c(size_t(m) * size_t(n));
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return c;
}

Matrix Transposed(const Matrix& a, int rows, int columns) {
  Matrix b(a.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) b[j * rows + i] = a[i * columns + j];
  }
  return b;
}

// Newton-Schulz as it is published, in float64.
Matrix Orthogonal(Matrix x, int rows, int columns) {
  if (rows > columns) {
    return Transposed(Orthogonal(Transposed(x, rows, columns), columns, rows),
                      columns, rows);
  }
  double squares = 0;
  for (const double v : x) squares += v * v;
  for (double& v : x) v /= std::sqrt(squares) + 1e-7;
  for (int step = 0; step < 5; ++step) {
    const Matrix a =
        Product(x, Transposed(x, rows, columns), rows, rows, columns);
    Matrix b = Product(a, a, rows, rows, rows);
    for (size_t i = 0; i < b.size(); ++i) {
      b[i] = -4.7750 * a[i] + 2.0315 * b[i];
    }
    const Matrix bx = Product(b, x, rows, columns, rows);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + bx[i];
  }
  return x;
}

// Only the matrices.
class Reference {
 public:
  explicit Reference(const std::vector<float>& start)
      : p(start.begin(), start.end()), m_(kCount) {}

  void Step(const MuonOptions& o, const std::vector<float>& g, double rate) {
    for (const Tensor& t : Tensors()) {
      if (!t.is_hidden_matrix()) continue;
      Matrix u;
      const double mu = o.momentum;
      for (size_t i = t.range.begin; i < t.range.end; ++i) {
        m_[i] = mu * m_[i] + (1 - mu) * g[i];
        u.push_back(o.nesterov ? (1 - mu) * g[i] + mu * m_[i] : m_[i]);
      }
      u = Orthogonal(std::move(u), t.rows, t.columns);
      const double size = 0.2 * std::sqrt(std::max(t.rows, t.columns));
      for (size_t i = 0; i < u.size(); ++i) {
        double& value = p[t.range.begin + i];
        value -= rate * (double{o.adamw.weight_decay} * value + size * u[i]);
      }
    }
  }

  std::vector<double> p;

 private:
  std::vector<double> m_;
};

TEST(MuonTest, MatricesAgreeWithFloat64AndTheRestIsAdamW) {
  const PlainProducts products;
  InlineExecutor executor;
  for (const bool nesterov : {true, false}) {
    const MuonOptions options = {.nesterov = nesterov};
    Muon muon(options, Tensors(), products);
    AdamW adamw(options.adamw, Tensors());
    std::vector<float> p = RandomValues(1);
    std::vector<float> of_adamw = p;
    Reference reference(p);
    for (int step = 0; step < 10; ++step) {
      const std::vector<float> g = RandomValues(10 + step);
      muon.Step(p, g, 0.02f, 1, executor);
      adamw.Step(of_adamw, g, 0.02f, 1, executor);
      reference.Step(options, g, 0.02f);
    }
    for (const Tensor& t : Tensors()) {
      for (size_t i = t.range.begin; i < t.range.end; ++i) {
        if (t.is_hidden_matrix()) {
          ASSERT_NEAR(p[i], reference.p[i], 1e-5) << i << " " << nesterov;
        } else {
          ASSERT_EQ(p[i], of_adamw[i]) << i;
        }
      }
    }
    for (size_t i = 164; i < kCount; ++i) ASSERT_EQ(p[i], RandomValues(1)[i]);
  }
}

TEST(MuonTest, AMatrixMovesAsFarAsAdamWWould) {
  const PlainProducts products;
  InlineExecutor executor;
  Muon muon({.adamw = {.weight_decay = 0}}, Tensors(), products);
  std::vector<float> p(kCount);
  muon.Step(p, RandomValues(5), 0.01f, 1, executor);
  for (const Tensor& t : Tensors()) {
    if (!t.is_hidden_matrix()) continue;
    double squares = 0;
    for (size_t i = t.range.begin; i < t.range.end; ++i) {
      squares += double{p[i]} * p[i];
    }
    const double rms = std::sqrt(squares / double(t.range.size()));
    // 0.2 sqrt(max) sqrt(min) / sqrt(rows columns) = 0.2 of the rate.
    EXPECT_NEAR(rms, 0.2 * 0.01, 0.25 * 0.2 * 0.01);
  }
}

TEST(MuonTest, TheSizeOfAGradientDoesNotMatterToAMatrix) {
  const PlainProducts products;
  InlineExecutor executor;
  Muon first({}, Tensors(), products), second({}, Tensors(), products);
  std::vector<float> a = RandomValues(1), b = a;
  first.Step(a, RandomValues(2), 0.01f, 1, executor);
  second.Step(b, RandomValues(2), 0.01f, 0.125f, executor);
  for (size_t i = 6; i < 66; ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << i;
}

TEST(MuonTest, RefusesOptionsWithoutMeaning) {
  EXPECT_TRUE(ValidateMuonOptions({}).ok());
  EXPECT_FALSE(ValidateMuonOptions({.momentum = 1}).ok());
  EXPECT_FALSE(ValidateMuonOptions({.adamw = {.weight_decay = -1}}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
