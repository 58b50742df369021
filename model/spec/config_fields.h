// model/spec/config_fields.h
//
// Reads single fields of a Hugging Face config.json. Every error is an
// InvalidArgument that names the field. A key that is absent or null keeps
// what the target holds.
#ifndef SKERRY_MODEL_SPEC_CONFIG_FIELDS_H_
#define SKERRY_MODEL_SPEC_CONFIG_FIELDS_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace skerry::model {

// "config.json: FIELD: WHY".
absl::Status RefuseField(std::string_view field, std::string_view why);

class ConfigFields {
 public:
  // `object` is a JSON object that outlives this. `prefix` stands before the
  // names of its fields in errors.
  explicit ConfigFields(const nlohmann::json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  // Null when the key is absent or null.
  const nlohmann::json* Find(const char* key) const;
  absl::Status Refuse(std::string_view key, std::string_view why) const;

  absl::Status ReadInt(const char* key, int* target) const;  // positive
  absl::Status ReadNumber(const char* key, double* target) const;
  absl::Status ReadFloat(const char* key, float* target) const;
  absl::Status ReadBool(const char* key, bool* target) const;
  absl::Status ReadString(const char* key, std::string* target) const;
  // Refuses the key when it is there and neither null nor `harmless`.
  absl::Status RefuseUnless(const char* key,
                            const nlohmann::json& harmless) const;
  // Refuses the first key that may change the arithmetic. A key may not if it
  // is in `known`, is bookkeeping, is switched off (null, false, zero or
  // empty), or has the one value that says what all models here do, such as
  // full attention in every layer.
  absl::Status RefuseOthers(
      std::initializer_list<std::string_view> known) const;

 private:
  const nlohmann::json& object_;
  const std::string prefix_;
};

// Errors: InvalidArgument unless `rate`, of a dropout, is at least 0 and below
// 1.
absl::Status CheckRate(std::string_view field, double rate);

// Whether a key of any model's config.json says nothing about the arithmetic of
// the models here: token ids, what generation defaults to, versions, labels,
// notes of other tools, how memory is saved.
bool IsBookkeeping(std::string_view key);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_CONFIG_FIELDS_H_
