#include "coordinator/page/page_request.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace skerry::coordinator {
namespace {

// The largest 64-bit number has so many digits.
constexpr size_t kDigitsMax = 20;
constexpr size_t kNameMax = 64;
constexpr std::string_view kFolder = "/page/";

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

// Digits without a leading zero that fit 64 bits.
bool ParseNumber(std::string_view text, uint64_t* number) {
  if (text.empty() || text.size() > kDigitsMax) return false;
  if (text.size() > 1 && text.front() == '0') return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(View(text), number);
}

bool IsLoopback(std::string_view address) {
  absl::string_view text = View(address);
  absl::ConsumePrefix(&text, "::ffff:");
  return text == "::1" || absl::StartsWith(text, "127.");
}

// Digits and dots, or a bracketed address of hexadecimal digits and colons.
// Nobody can own such a name.
bool IsNumericHost(std::string_view host) {
  const bool bracketed = host.front() == '[';
  if (bracketed) {
    if (host.size() < 2 || host.back() != ']') return false;
    host = host.substr(1, host.size() - 2);
  }
  for (const char c : host) {
    const auto u = static_cast<unsigned char>(c);
    const bool good = bracketed
                          ? absl::ascii_isxdigit(u) || c == ':' || c == '.'
                          : absl::ascii_isdigit(u) || c == '.';
    if (!good) return false;
  }
  return !host.empty();
}

bool IsOwnHost(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.back() != ']') {
    uint64_t port = 0;
    if (!ParseNumber(host.substr(colon + 1), &port)) return false;
    host = host.substr(0, colon);
  }
  if (host.empty()) return false;
  return absl::EqualsIgnoreCase(View(host), "localhost") || IsNumericHost(host);
}

bool IsFileName(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || name.front() == '.') {
    return false;
  }
  for (const char c : name) {
    const bool good = absl::ascii_islower(static_cast<unsigned char>(c)) ||
                      c == '_' || c == '.';
    if (!good) return false;
  }
  return true;
}

}  // namespace

std::string FormatMark(const PageMark& mark) {
  return absl::StrCat(mark.term, "-", mark.tick);
}

absl::StatusOr<PageMark> ParseMark(std::string_view text) {
  const size_t dash = text.find('-');
  PageMark mark;
  if (dash == std::string_view::npos ||
      !ParseNumber(text.substr(0, dash), &mark.term) ||
      !ParseNumber(text.substr(dash + 1), &mark.tick)) {
    return absl::InvalidArgumentError(
        "the mark is not one that the page was given: TERM-TICK");
  }
  return mark;
}

absl::Status CheckSender(const PageSender& sender) {
  if (!IsLoopback(sender.address)) {
    return absl::PermissionDeniedError(
        "the page is for this machine alone; forward the port with ssh -L");
  }
  if (!IsOwnHost(sender.host)) {
    return absl::PermissionDeniedError(
        "open the page by an IP address or as localhost");
  }
  if (!sender.fetch_site.empty() && sender.fetch_site != "same-origin" &&
      sender.fetch_site != "none") {
    return absl::PermissionDeniedError("another site asks for the page");
  }
  return absl::OkStatus();
}

absl::StatusOr<PageRequest> ParsePageRequest(std::string_view path,
                                             std::string_view query,
                                             std::string_view last_event_id) {
  PageRequest request;
  if (path == "/") {
    request.name = "index.html";
  } else if (path == "/page/view") {
    request.what = PageRequest::What::kView;
  } else if (path == "/page/changes") {
    request.what = PageRequest::What::kChanges;
  } else if (path.substr(0, kFolder.size()) == kFolder &&
             IsFileName(path.substr(kFolder.size()))) {
    request.name = std::string(path.substr(kFolder.size()));
  } else {
    return absl::NotFoundError("there is no such page");
  }
  constexpr std::string_view kAfter = "after=";
  if (request.what != PageRequest::What::kChanges) {
    if (!query.empty()) {
      return absl::InvalidArgumentError("this path takes no query");
    }
    return request;
  }
  if (!query.empty() && query.substr(0, kAfter.size()) != kAfter) {
    return absl::InvalidArgumentError("the query is not after=TERM-TICK");
  }
  if (!query.empty()) {
    SKERRY_ASSIGN_OR_RETURN(request.after,
                            ParseMark(query.substr(kAfter.size())));
  }
  if (!last_event_id.empty()) {
    SKERRY_ASSIGN_OR_RETURN(request.after, ParseMark(last_event_id));
  }
  return request;
}

}  // namespace skerry::coordinator
