// base/testing/golden_file.h
//
// Reads golden files: named arrays that another program computed and that the
// scripts in tools/gen wrote. tools/gen/golden_file.py describes the bytes.
#ifndef SKERRY_BASE_TESTING_GOLDEN_FILE_H_
#define SKERRY_BASE_TESTING_GOLDEN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skerry::testing {

struct GoldenFile {
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<int32_t>> ints;
};

// Reads a file of the test's own data; stops the process when it is not one.
GoldenFile ReadGoldenFile(const std::string& path);
std::string ReadTextFile(const std::string& path);

// The largest |a[i] - b[i]| divided by the largest |b[i]|; infinite when the
// sizes differ or a value is NaN.
double RelativeError(const float* a, size_t a_size,
                     const std::vector<float>& b);

}  // namespace skerry::testing

#endif  // SKERRY_BASE_TESTING_GOLDEN_FILE_H_
