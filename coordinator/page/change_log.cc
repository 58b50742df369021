#include "coordinator/page/change_log.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

const char* NameOf(PageList list) {
  switch (list) {
    case PageList::kJobs:
      return "jobs";
    case PageList::kWorkers:
      return "workers";
    case PageList::kEvents:
      return "events";
  }
  return "";
}

// `object` with the age as one more field.
void AppendAged(const std::string& object, const std::optional<PageAge>& age,
                Instant now, std::string* out) {
  if (!age.has_value()) {
    out->append(object);
    return;
  }
  out->append(object, 0, object.size() - 1);
  const int64_t ms =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(now - age->since));
  absl::StrAppend(out, ",\"", age->field, "\":\"", ms, "\"}");
}

}  // namespace

void ChangeLog::Begin(Instant now) {
  now_ = now;
  changed_ = false;
  for (auto& [key, object] : objects_) object.seen = false;
}

void ChangeLog::Put(PageList list, const std::string& key, uint64_t news,
                    absl::Duration rest, std::optional<PageAge> age,
                    absl::FunctionRef<std::string()> text) {
  const auto [it, added] = objects_.try_emplace({list, key});
  Object& object = it->second;
  object.seen = true;
  object.age = std::move(age);
  if (!added) {
    if (object.news == news) return;
    const absl::Duration share = absl::Seconds(
        static_cast<double>(object.text.size()) / kBytesPerSecond);
    if (now_ - object.changed < std::max(rest, share)) return;
  }
  object.news = news;
  object.tick = tick_ + 1;
  object.changed = now_;
  object.text = text();
  changed_ = true;
}

void ChangeLog::Keep(PageList list, const std::string& prefix) {
  for (auto it = objects_.lower_bound({list, prefix});
       it != objects_.end() && it->first.first == list &&
       absl::StartsWith(it->first.second, prefix);
       ++it) {
    it->second.seen = true;
  }
}

void ChangeLog::End() {
  bool gone = false;
  for (auto it = objects_.begin(); it != objects_.end();) {
    if (it->second.seen) {
      ++it;
      continue;
    }
    // Readers keep the events that they have.
    gone |= it->first.first != PageList::kEvents;
    it = objects_.erase(it);
  }
  if (!changed_ && !gone) return;
  ++tick_;
  if (gone) whole_since_ = tick_;
}

std::string ChangeLog::Since(uint64_t tick, Instant now) const {
  if (tick > tick_) tick = 0;
  const bool whole = tick < whole_since_;
  if (!whole && tick == tick_) return "";
  std::string out = whole ? "\"whole\":true" : "";
  std::optional<PageList> begun;
  for (const auto& [key, object] : objects_) {
    if (!whole && object.tick <= tick) continue;
    if (begun == key.first) {
      out += ',';
    } else {
      if (begun.has_value()) out += ']';
      absl::StrAppend(&out, out.empty() ? "" : ",", "\"", NameOf(key.first),
                      "\":[");
      begun = key.first;
    }
    AppendAged(object.text, object.age, now, &out);
  }
  if (begun.has_value()) out += ']';
  return out;
}

}  // namespace skerry::coordinator
