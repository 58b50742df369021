#include "data/tokenizer/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <queue>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "data/tokenizer/byte_alphabet.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Pair = std::pair<int32_t, int32_t>;

constexpr int kVocabMax = 1 << 22;

struct Word {
  std::vector<int32_t> tokens;
  int64_t count = 0;
};

// A pair, how often it was seen when it was put here, and in which words.
struct Candidate {
  int64_t count = 0;
  Pair pair;
  std::vector<uint32_t> words;
};

// The most frequent is on top, and of equals the smallest numbers.
struct IsBelow {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class Learner {
 public:
  explicit Learner(LearnedBpe& learned) : learned_(learned) {}

  absl::Status AddSpecials(const std::vector<std::string>& specials);
  void AddBytes();
  void AddWords(const absl::flat_hash_map<std::string, uint64_t>& counts);
  void Learn(const BpeTrainingOptions& options);

 private:
  int32_t Number(const std::string& token);
  void Join(Word& word, uint32_t index, Pair pair, int32_t joined);
  void Change(Pair pair, int64_t by, uint32_t word);
  void PushAdded();

  LearnedBpe& learned_;
  absl::flat_hash_map<std::string, int32_t> numbers_;
  std::array<int32_t, 256> byte_tokens_{};
  std::vector<Word> words_;
  absl::flat_hash_map<Pair, int64_t> counts_;
  // Words in which a pair has come up since the last PushAdded.
  absl::btree_map<Pair, std::vector<uint32_t>> added_;
  std::priority_queue<Candidate, std::vector<Candidate>, IsBelow> queue_;
  // The last time that a pair was joined counts, as in the package.
  absl::flat_hash_map<Pair, size_t> last_;
  std::vector<Pair> joined_;
};

int32_t Learner::Number(const std::string& token) {
  const auto [found, is_new] =
      numbers_.try_emplace(token, static_cast<int32_t>(learned_.tokens.size()));
  if (is_new) learned_.tokens.push_back(token);
  return found->second;
}

absl::Status Learner::AddSpecials(const std::vector<std::string>& specials) {
  for (const std::string& special : specials) {
    if (special.empty()) {
      return absl::InvalidArgumentError("a special token is empty");
    }
    const auto bytes = ReadBytes(special);
    if (numbers_.contains(special) || (bytes && bytes->size() == 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the special token ", special, " is there twice, or a byte"));
    }
    Number(special);
  }
  return absl::OkStatus();
}

void Learner::AddBytes() {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  std::sort(bytes.begin(), bytes.end(), [](uint8_t a, uint8_t b) {
    return CharacterOfByte(a) < CharacterOfByte(b);
  });
  for (const uint8_t byte : bytes) {
    const char c = static_cast<char>(byte);
    byte_tokens_[byte] = Number(WriteBytes(std::string_view(&c, 1)));
  }
}

void Learner::Change(Pair pair, int64_t by, uint32_t word) {
  counts_[pair] += by;
  if (by <= 0) return;
  std::vector<uint32_t>& words = added_[pair];
  if (words.empty() || words.back() != word) words.push_back(word);
}

void Learner::PushAdded() {
  for (auto& [pair, words] : added_) {
    const int64_t count = counts_[pair];
    if (count > 0) queue_.push({count, pair, std::move(words)});
  }
  added_.clear();
}

void Learner::AddWords(
    const absl::flat_hash_map<std::string, uint64_t>& counts) {
  for (const auto& [piece, count] : counts) {
    Word word;
    word.count = static_cast<int64_t>(count);
    for (const char byte : piece) {
      word.tokens.push_back(byte_tokens_[static_cast<uint8_t>(byte)]);
    }
    const auto index = static_cast<uint32_t>(words_.size());
    for (size_t i = 0; i + 1 < word.tokens.size(); ++i) {
      Change({word.tokens[i], word.tokens[i + 1]}, word.count, index);
    }
    words_.push_back(std::move(word));
  }
  PushAdded();
}

void Learner::Join(Word& word, uint32_t index, Pair pair, int32_t joined) {
  std::vector<int32_t>& tokens = word.tokens;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != pair.first || tokens[i + 1] != pair.second) continue;
    if (i > 0) {
      Change({tokens[i - 1], pair.first}, -word.count, index);
      Change({tokens[i - 1], joined}, word.count, index);
    }
    tokens[i] = joined;
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(i) + 1);
    if (i + 1 < tokens.size()) {
      Change({pair.second, tokens[i + 1]}, -word.count, index);
      Change({joined, tokens[i + 1]}, word.count, index);
    }
  }
}

void Learner::Learn(const BpeTrainingOptions& options) {
  const auto wanted = static_cast<size_t>(options.vocab_size);
  while (learned_.tokens.size() < wanted && !queue_.empty()) {
    Candidate top = queue_.top();
    queue_.pop();
    if (top.count != counts_[top.pair]) {
      top.count = counts_[top.pair];
      queue_.push(std::move(top));
      continue;
    }
    if (top.count < 1 ||
        static_cast<uint64_t>(top.count) < options.min_frequency) {
      break;
    }
    const int32_t joined =
        Number(learned_.tokens[static_cast<size_t>(top.pair.first)] +
               learned_.tokens[static_cast<size_t>(top.pair.second)]);
    last_[top.pair] = joined_.size();
    joined_.push_back(top.pair);
    for (const uint32_t word : top.words) {
      Join(words_[word], word, top.pair, joined);
    }
    PushAdded();
  }
  for (size_t i = 0; i < joined_.size(); ++i) {
    if (last_[joined_[i]] == i) learned_.merges.push_back(joined_[i]);
  }
}

}  // namespace

void PieceCounter::Add(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = PieceEnd(pattern_, text, at);
    ++counts_[absl::string_view(text.data() + at, end - at)];
    at = end;
  }
}

absl::StatusOr<LearnedBpe> TrainBpe(const PieceCounter& pieces,
                                    const BpeTrainingOptions& options) {
  const int least = 256 + static_cast<int>(options.specials.size());
  if (options.vocab_size < least || options.vocab_size > kVocabMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the vocabulary must have ", least, " to ", kVocabMax,
                     " tokens, not ", options.vocab_size));
  }
  LearnedBpe learned;
  learned.pattern = pieces.pattern();
  learned.specials = options.specials;
  Learner learner(learned);
  SKERRY_RETURN_IF_ERROR(learner.AddSpecials(options.specials));
  learner.AddBytes();
  learner.AddWords(pieces.counts());
  learner.Learn(options);
  return learned;
}

std::string TokenizerJson(const LearnedBpe& learned) {
  using Json = nlohmann::ordered_json;
  const Json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", true}};
  Json json = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", Json::array()},
               {"normalizer", nullptr},     {"pre_tokenizer", byte_level},
               {"post_processor", nullptr}, {"decoder", byte_level}};
  for (size_t i = 0; i < learned.specials.size(); ++i) {
    json["added_tokens"].push_back({{"id", i},
                                    {"content", learned.specials[i]},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  const bool is_llama3 = learned.pattern == SplitPattern::kLlama3 ||
                         learned.pattern == SplitPattern::kLlama3SingleDigits;
  if (learned.pattern == SplitPattern::kWhole) {
    json["pre_tokenizer"]["use_regex"] = false;
  } else if (is_llama3) {
    const std::string_view pattern = learned.pattern == SplitPattern::kLlama3
                                         ? kLlama3Pattern
                                         : kLlama3SingleDigitsPattern;
    Json bytes = byte_level;
    bytes["use_regex"] = false;
    json["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         Json::array({{{"type", "Split"},
                       {"pattern", {{"Regex", std::string(pattern)}}},
                       {"behavior", "Isolated"},
                       {"invert", false}},
                      bytes})}};
  }
  Json vocabulary = Json::object();
  auto& entries = vocabulary.get_ref<Json::object_t&>();
  entries.reserve(learned.tokens.size());
  for (size_t i = 0; i < learned.tokens.size(); ++i) {
    // Without a search for the same key, which is not there.
    entries.push_back({learned.tokens[i], i});
  }
  Json merges = Json::array();
  const auto text = [&](int32_t token) {
    return learned.tokens[static_cast<size_t>(token)];
  };
  for (const auto& [left, right] : learned.merges) {
    merges.push_back(Json::array({text(left), text(right)}));
  }
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", is_llama3},
                   {"vocab", std::move(vocabulary)},
                   {"merges", std::move(merges)}};
  return json.dump(1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace skerry::data
