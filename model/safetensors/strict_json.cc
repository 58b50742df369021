#include "model/safetensors/strict_json.h"

#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

// Checks a text without building anything, and stops at the first thing that is
// not allowed.
class Judge : public nlohmann::json_sax<Json> {
 public:
  explicit Judge(int depth_max) : depth_max_(depth_max) {}

  const std::string& complaint() const { return complaint_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    complaint_ = absl::StrCat("has the key ", name, " twice");
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    complaint_ = absl::StrCat("is not JSON at byte ", position);
    return false;
  }

 private:
  bool Enter() {
    keys_.emplace_back();
    if (static_cast<int>(keys_.size()) <= depth_max_) return true;
    complaint_ = absl::StrCat("nests deeper than ", depth_max_);
    return false;
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  const int depth_max_;
  // The keys so far of every object and list that is open, the innermost last.
  std::vector<absl::btree_set<std::string>> keys_;
  std::string complaint_;
};

}  // namespace

absl::StatusOr<Json> ParseStrictJson(std::string_view text, int depth_max) {
  Judge judge(depth_max);
  if (!Json::sax_parse(text, &judge)) {
    return absl::InvalidArgumentError(judge.complaint());
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("is not a JSON object");
  }
  return json;
}

absl::StatusOr<std::string> DumpJson(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("a name is not UTF-8: ", error.what()));
  }
}

}  // namespace skerry::model
