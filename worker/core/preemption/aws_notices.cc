#include "worker/core/preemption/aws_notices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace skerry::worker {
namespace {

constexpr char kTokenHeader[] = "X-aws-ec2-metadata-token";
constexpr size_t kTokenBytesMax = 1024;
constexpr absl::Duration kTimeout = absl::Seconds(2);
// EC2 gives two minutes. A notice that seems to give more was read by a wrong
// clock.
constexpr absl::Duration kNoticeMax = absl::Seconds(120);

// It becomes the value of a header.
bool IsToken(const std::string& text) {
  return !text.empty() && text.size() <= kTokenBytesMax &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isgraph(c); });
}

absl::StatusOr<Finding> Decode(const MetadataReply& reply, absl::Time now) {
  const nlohmann::json json =
      nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("is no JSON object");
  }
  const auto action = json.find("action");
  if (action == json.end() ||
      (*action != "terminate" && *action != "stop" && *action != "hibernate")) {
    return absl::InvalidArgumentError(
        "its action is none of terminate, stop and hibernate");
  }
  const auto time = json.find("time");
  if (time == json.end() || !time->is_string()) {
    return absl::InvalidArgumentError("it has no time");
  }
  const auto& text = time->get_ref<const std::string&>();
  SKERRY_ASSIGN_OR_RETURN(const absl::Time at, ReadRfc3339(text));
  const auto& what = action->get_ref<const std::string&>();
  return Finding{.notice = Notice{absl::StrCat(what, " ", text), what,
                                  TimeUntil(at, reply, now, kNoticeMax)}};
}

}  // namespace

MetadataRequest AwsNotices::Next() const {
  if (token_.empty()) {
    return {"PUT",
            "/latest/api/token",
            {{absl::StrCat(kTokenHeader, "-ttl-seconds"), "21600"}},
            kTimeout};
  }
  return {"GET",
          "/latest/meta-data/spot/instance-action",
          {{kTokenHeader, token_}},
          kTimeout};
}

absl::StatusOr<Finding> AwsNotices::OnToken(const MetadataReply& reply) {
  if (reply.code != 200) {
    return BadReply(Next(), absl::StrCat("gives no token (HTTP ", reply.code,
                                         "); is the instance's metadata "
                                         "service switched on?"));
  }
  if (!IsToken(reply.body)) return BadReply(Next(), "gives no token");
  token_ = reply.body;
  fresh_ = true;
  return Finding{.asks_on = true};
}

absl::StatusOr<Finding> AwsNotices::OnReply(const MetadataReply& reply,
                                            absl::Time now) {
  if (token_.empty()) return OnToken(reply);
  const bool fresh = std::exchange(fresh_, false);
  const MetadataRequest request = Next();
  if (reply.code == 404) return Finding{};
  if (reply.code == 401) {
    token_.clear();
    if (!fresh) return Finding{.asks_on = true};
    return BadReply(request, "refuses the token that it has just given");
  }
  if (reply.code != 200) {
    return BadReply(request, absl::StrCat("answers HTTP ", reply.code));
  }
  absl::StatusOr<Finding> found = Decode(reply, now);
  if (!found.ok()) return BadReply(request, found.status().message());
  return found;
}

}  // namespace skerry::worker
