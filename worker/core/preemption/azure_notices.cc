#include "worker/core/preemption/azure_notices.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace skerry::worker {
namespace {

using Json = nlohmann::json;

constexpr size_t kNameBytesMax = 256;
// The first answer may take two minutes. A request that hangs for so long
// would miss a notice of 30 s.
constexpr absl::Duration kTimeout = absl::Seconds(5);
// Events may be announced days ahead.
constexpr absl::Duration kNoticeMax = absl::Hours(24 * 365);

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isgraph(c); });
}

absl::StatusOr<std::string> TextOf(const Json& event, const char* field) {
  const auto found = event.find(field);
  if (found == event.end() || !found->is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has an event without ", field));
  }
  return found->get<std::string>();
}

absl::StatusOr<bool> Names(const Json& event, const std::string& machine) {
  const auto resources = event.find("Resources");
  if (resources == event.end() || !resources->is_array()) {
    return absl::InvalidArgumentError("has an event without Resources");
  }
  return std::any_of(resources->begin(), resources->end(),
                     [&machine](const Json& one) {
                       return one.is_string() &&
                              absl::EqualsIgnoreCase(
                                  one.get_ref<const std::string&>(), machine);
                     });
}

bool TakesTheMachine(const std::string& type) {
  return type == "Preempt" || type == "Terminate" || type == "Reboot" ||
         type == "Redeploy";
}

// None for an event that does not take `machine` away.
absl::StatusOr<std::optional<Notice>> NoticeOf(const Json& event,
                                               const std::string& machine,
                                               const MetadataReply& reply,
                                               absl::Time now) {
  if (!event.is_object()) {
    return absl::InvalidArgumentError("has an event that is no JSON object");
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string type, TextOf(event, "EventType"));
  SKERRY_ASSIGN_OR_RETURN(const bool ours, Names(event, machine));
  if (!ours || !TakesTheMachine(type)) return std::nullopt;
  SKERRY_ASSIGN_OR_RETURN(const std::string id, TextOf(event, "EventId"));
  SKERRY_ASSIGN_OR_RETURN(const std::string status,
                          TextOf(event, "EventStatus"));
  SKERRY_ASSIGN_OR_RETURN(const std::string not_before,
                          TextOf(event, "NotBefore"));
  Notice notice{absl::StrCat(id, " ", status, " ", not_before), type,
                absl::ZeroDuration()};
  // An event that has started has no time any more.
  if (status == "Started" || not_before.empty()) return notice;
  if (status != "Scheduled") return std::nullopt;
  SKERRY_ASSIGN_OR_RETURN(const absl::Time at, ReadHttpDate(not_before));
  notice.remaining = TimeUntil(at, reply, now, kNoticeMax);
  return notice;
}

absl::StatusOr<Finding> Decode(const MetadataReply& reply,
                               const std::string& machine, absl::Time now) {
  const Json json = Json::parse(reply.body, nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("is no JSON object");
  }
  const auto events = json.find("Events");
  if (events == json.end() || !events->is_array()) {
    return absl::InvalidArgumentError("has no list of events");
  }
  Finding found;
  for (const Json& event : *events) {
    SKERRY_ASSIGN_OR_RETURN(std::optional<Notice> notice,
                            NoticeOf(event, machine, reply, now));
    if (!notice.has_value()) continue;
    if (!found.notice.has_value() ||
        notice->remaining < found.notice->remaining) {
      found.notice = std::move(notice);
    }
  }
  return found;
}

}  // namespace

MetadataRequest AzureNotices::Next() const {
  return {"GET",
          machine_.empty() ? "/metadata/instance/compute/name"
                             "?api-version=2021-02-01&format=text"
                           : "/metadata/scheduledevents"
                             "?api-version=2020-07-01",
          {{"Metadata", "true"}},
          kTimeout};
}

absl::StatusOr<Finding> AzureNotices::OnReply(const MetadataReply& reply,
                                              absl::Time now) {
  const MetadataRequest request = Next();
  if (reply.code != 200) {
    return BadReply(request, absl::StrCat("answers HTTP ", reply.code));
  }
  if (machine_.empty()) {
    if (!IsName(reply.body)) return BadReply(request, "gives no name");
    machine_ = reply.body;
    return Finding{.asks_on = true};
  }
  absl::StatusOr<Finding> found = Decode(reply, machine_, now);
  if (!found.ok()) return BadReply(request, found.status().message());
  return found;
}

}  // namespace skerry::worker
