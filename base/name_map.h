// base/name_map.h
//
// A map from names to values that is walked in the order of the names and
// looked up by hash. Values stay where they are while they are in the map.
#ifndef SKERRY_BASE_NAME_MAP_H_
#define SKERRY_BASE_NAME_MAP_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace skerry {

template <typename Value>
class NameMap {
 public:
  using Ordered = std::map<std::string, Value, std::less<>>;
  using iterator = typename Ordered::iterator;
  using const_iterator = typename Ordered::const_iterator;

  NameMap() = default;
  NameMap(const NameMap& other) : ordered_(other.ordered_) { IndexAll(); }
  NameMap& operator=(const NameMap& other) {
    if (this == &other) return *this;
    ordered_ = other.ordered_;
    IndexAll();
    return *this;
  }
  NameMap(NameMap&&) noexcept = default;
  NameMap& operator=(NameMap&&) noexcept = default;

  iterator begin() { return ordered_.begin(); }
  iterator end() { return ordered_.end(); }
  const_iterator begin() const { return ordered_.begin(); }
  const_iterator end() const { return ordered_.end(); }
  size_t size() const { return ordered_.size(); }
  bool empty() const { return ordered_.empty(); }

  iterator find(std::string_view name) {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? end() : it->second;
  }
  const_iterator find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? end() : const_iterator(it->second);
  }
  bool contains(std::string_view name) const { return by_name_.contains(name); }
  // Requires: the name is in the map.
  Value& at(std::string_view name) { return by_name_.at(name)->second; }
  const Value& at(std::string_view name) const {
    return by_name_.at(name)->second;
  }
  // Makes a value of its default if there is none.
  Value& operator[](std::string_view name) {
    return try_emplace(name).first->second;
  }
  // Makes a value of its default, and says true, if there is none.
  std::pair<iterator, bool> try_emplace(std::string_view name) {
    if (const auto it = find(name); it != end()) return {it, false};
    const auto it = ordered_.try_emplace(std::string(name)).first;
    by_name_.emplace(it->first, it);
    return {it, true};
  }
  void erase(const_iterator it) {
    by_name_.erase(it->first);
    ordered_.erase(it);
  }
  void erase(std::string_view name) {
    if (const auto it = find(name); it != end()) erase(it);
  }

 private:
  void IndexAll() {
    by_name_.clear();
    for (auto it = begin(); it != end(); ++it) by_name_.emplace(it->first, it);
  }

  Ordered ordered_;
  absl::flat_hash_map<std::string_view, iterator> by_name_;
};

}  // namespace skerry

#endif  // SKERRY_BASE_NAME_MAP_H_
