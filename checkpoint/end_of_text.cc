#include "checkpoint/end_of_text.h"

#include "nlohmann/json.hpp"

namespace skerry::checkpoint {

std::vector<int32_t> EndOfTextTokens(std::string_view config_json) {
  const auto config = nlohmann::json::parse(config_json, nullptr,
                                            /*allow_exceptions=*/false);
  std::vector<int32_t> tokens;
  if (!config.is_object()) return tokens;
  const auto take = [&](const nlohmann::json& token) {
    if (!token.is_number_unsigned() || token > INT32_MAX) return;
    tokens.push_back(token.get<int32_t>());
  };
  const auto named = config.find("eos_token_id");
  if (named == config.end()) return tokens;
  if (!named->is_array()) {
    take(*named);
    return tokens;
  }
  for (const nlohmann::json& token : *named) take(token);
  return tokens;
}

}  // namespace skerry::checkpoint
