// Encodes documents on one thread and says how long it took; see
// bench/micro/tokenizers, which runs it beside the `tokenizers` package.
//
//   tokenizer_bench TOKENIZER_JSON DOCUMENTS TOKENS
//
// DOCUMENTS are separated by zero bytes. Writes the tokens of all of them to
// TOKENS, four bytes each, and prints the seconds of a second pass.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer_json.h"

namespace skerry::bench {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string_view> Documents(std::string_view all) {
  std::vector<std::string_view> documents;
  while (!all.empty()) {
    const size_t end = std::min(all.find('\0'), all.size());
    documents.push_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return documents;
}

int Run(char** paths) {
  const auto tokenizer = data::ParseTokenizerJson(ReadFile(paths[1]));
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().ToString().c_str());
    return 1;
  }
  const std::string all = ReadFile(paths[2]);
  const std::vector<std::string_view> documents = Documents(all);
  data::TextEncoder encoder(*tokenizer);
  std::vector<int32_t> tokens;
  double seconds = 0;
  for (int pass = 0; pass < 2; ++pass) {
    tokens.clear();
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string_view document : documents) {
      encoder.Append(document, tokens);
    }
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    seconds = took.count();
  }
  std::ofstream out(paths[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(tokens.data()),
            static_cast<std::streamsize>(tokens.size() * sizeof(int32_t)));
  std::printf("%.9f\n", seconds);
  return out.good() ? 0 : 1;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: tokenizer_bench TOKENIZER_JSON DOCUMENTS TOKENS\n");
    return 2;
  }
  return skerry::bench::Run(argv);
}
