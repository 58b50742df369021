// base/json_members.h
//
// Reads members of JSON objects that somebody else has written, without
// exceptions.
#ifndef SKERRY_BASE_JSON_MEMBERS_H_
#define SKERRY_BASE_JSON_MEMBERS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"

namespace skerry {

using Json = nlohmann::ordered_json;

// Null when `object` is no object, and when it has no such member.
inline const Json* FindMember(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

// Unset when it is absent or no string.
inline std::optional<std::string> StringMember(const Json& object,
                                               const char* key) {
  const Json* value = FindMember(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

// Unset when it is absent or no whole number from 0 to 2^64 - 1.
inline std::optional<uint64_t> CountMember(const Json& object,
                                           const char* key) {
  const Json* value = FindMember(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<uint64_t>();
}

}  // namespace skerry

#endif  // SKERRY_BASE_JSON_MEMBERS_H_
