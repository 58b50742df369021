#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/cpu/gemm.h"
#include "model/cpu/gemm_bf16_kernel.h"

namespace skerry::model::cpu {
namespace {

// What is packed at a time: kDepthMax x kColumnsMax of B, which stays in the
// shared cache, and kRowsMax x kDepthMax of A, which stays in a core's own.
constexpr size_t kDepthMax = 768;
constexpr size_t kColumnsMax = 64 * kBf16Columns;
constexpr size_t kRowsMax = 32 * kBf16Rows;

size_t Parts(size_t total, size_t part) { return (total + part - 1) / part; }

// The largest even share of the depth that is no more than kDepthMax and
// leaves no small rest.
size_t DepthPart(size_t depth) {
  return Parts(Parts(depth, Parts(depth, kDepthMax)), 2) * 2;
}

// A matrix seen from the product: element (lane, k), where lanes are rows of
// op(A) or columns of op(B).
struct Operand {
  const float* data;
  size_t stride;
  bool lies_along;  // neighbours along k are neighbours in memory

  const float* At(size_t lane, size_t k) const {
    return data + (lies_along ? lane * stride + k : k * stride + lane);
  }
};

// Panels of `width` lanes, one behind the other, of lanes [begin, end) and of
// [k, k + depth).
void Pack(const Operand& from, size_t width, size_t begin, size_t end, size_t k,
          size_t depth, std::vector<uint32_t>& panels) {
  const size_t panel = Parts(depth, 2) * width;
  panels.resize(std::max(panels.size(), Parts(end - begin, width) * panel));
  uint32_t* to = panels.data();
  for (size_t lane = begin; lane < end; lane += width, to += panel) {
    const Bf16Source source = {from.At(lane, k), from.stride,
                               std::min(width, end - lane), depth};
    from.lies_along ? PackBf16Along(source, width, to)
                    : PackBf16Across(source, width, to);
  }
}

// One thread's room for panels; it grows to that of the largest product.
struct Room {
  std::vector<uint32_t> a;
  std::vector<uint32_t> b;
};

// C (+)= A B of packed blocks.
void MultiplyPanels(const Room& room, size_t pairs, size_t rows, size_t columns,
                    float* c, size_t c_stride, bool adds) {
  for (size_t j = 0; j < columns; j += kBf16Columns) {
    for (size_t i = 0; i < rows; i += kBf16Rows) {
      MultiplyBf16Tile({.a = room.a.data() + i * pairs,
                        .b = room.b.data() + j * pairs,
                        .pairs = pairs,
                        .rows = std::min(kBf16Rows, rows - i),
                        .columns = std::min(kBf16Columns, columns - j),
                        .c = c + i * c_stride + j,
                        .c_stride = c_stride,
                        .adds = adds});
    }
  }
}

// Goto's order of loops: a block of B is packed once for all rows.
class Bf16 final : public GemmBackend {
 public:
  std::string_view name() const override { return "bf16"; }
  bool multiplies_attention() const override { return true; }

  void Multiply(const GemmShape& shape, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc) const override {
    thread_local Room room;
    const Operand left = {a, static_cast<size_t>(lda),
                          shape.transpose_a == Transpose::kNo};
    const Operand right = {b, static_cast<size_t>(ldb),
                           shape.transpose_b == Transpose::kYes};
    const size_t m = static_cast<size_t>(shape.m);
    const size_t n = static_cast<size_t>(shape.n);
    const size_t k = static_cast<size_t>(shape.k);
    const size_t stride = static_cast<size_t>(ldc);
    const size_t part = DepthPart(k);
    for (size_t j = 0; j < n; j += kColumnsMax) {
      const size_t j_end = std::min(n, j + kColumnsMax);
      for (size_t p = 0; p < k; p += part) {
        const size_t depth = std::min(part, k - p);
        Pack(right, kBf16Columns, j, j_end, p, depth, room.b);
        for (size_t i = 0; i < m; i += kRowsMax) {
          const size_t i_end = std::min(m, i + kRowsMax);
          Pack(left, kBf16Rows, i, i_end, p, depth, room.a);
          MultiplyPanels(room, Parts(depth, 2), i_end - i, j_end - j,
                         c + i * stride + j, stride, beta != 0 || p > 0);
        }
      }
    }
  }
};

}  // namespace

const GemmBackend* Bf16Gemm() {
  static const Bf16 backend;
  return HasBf16Dot() ? &backend : nullptr;
}

}  // namespace skerry::model::cpu
