#include "base/testing/golden_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/check.h"

namespace skerry::testing {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  uint32_t Count() {
    uint32_t value;
    std::memcpy(&value, Take(sizeof(value)), sizeof(value));
    return value;
  }
  std::string Text(size_t size) { return std::string(Take(size), size); }
  template <typename T>
  std::vector<T> Array(size_t count) {
    std::vector<T> values(count);
    const char* from = Take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
    return values;
  }
  bool AtEnd() const { return at_ == bytes_.size(); }

 private:
  const char* Take(size_t size) {
    SKERRY_CHECK(size <= bytes_.size() - at_);
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace

std::string ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  SKERRY_CHECK(file.good());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

GoldenFile ReadGoldenFile(const std::string& path) {
  const std::string bytes = ReadTextFile(path);
  Reader reader(bytes);
  GoldenFile golden;
  const uint32_t count = reader.Count();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = reader.Text(reader.Count());
    const std::string kind = reader.Text(1);
    const uint32_t elements = reader.Count();
    if (kind == "f") {
      golden.floats[name] = reader.Array<float>(elements);
    } else {
      SKERRY_CHECK(kind == "i");
      golden.ints[name] = reader.Array<int32_t>(elements);
    }
  }
  SKERRY_CHECK(reader.AtEnd());
  return golden;
}

double RelativeError(const float* a, size_t a_size,
                     const std::vector<float>& b) {
  if (a_size != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  double largest = 0;
  for (size_t i = 0; i < a_size; ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    if (!(difference >= 0)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, difference);
    largest = std::max(largest, std::abs(double{b[i]}));
  }
  return worst == 0 ? 0 : worst / largest;
}

}  // namespace skerry::testing
