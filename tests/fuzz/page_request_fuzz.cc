// Any bytes as a request to the page, its sender and a mark: what is taken
// names a file that can exist or a mark that is written as it was read, and
// what is not is one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "coordinator/page/page_request.h"

namespace coordinator = skerry::coordinator;

namespace {

void CheckOneLine(const absl::Status& status) {
  SKERRY_CHECK(status.message().find('\n') == absl::string_view::npos);
}

// The next field of the input; a zero byte ends it.
std::string_view TakeField(std::string_view* rest) {
  const size_t end = rest->find('\0');
  const std::string_view field = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return field;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view path = TakeField(&rest);
  const std::string_view query = TakeField(&rest);
  const std::string_view event = TakeField(&rest);
  const auto request = coordinator::ParsePageRequest(path, query, event);
  if (request.ok()) {
    SKERRY_CHECK(request->name.find('/') == std::string::npos);
    SKERRY_CHECK(request->name.empty() || request->name.front() != '.');
    if (!event.empty() && request->after.has_value()) {
      SKERRY_CHECK(coordinator::FormatMark(*request->after) == event);
    }
  } else {
    CheckOneLine(request.status());
  }
  const auto mark = coordinator::ParseMark(path);
  if (mark.ok()) SKERRY_CHECK(coordinator::FormatMark(*mark) == path);
  const absl::Status may = coordinator::CheckSender({path, query, event});
  if (may.ok()) {
    // Nobody can own a name that is taken: it has no letters beside localhost
    // unless it is bracketed.
    const bool word = query.size() >= 9 && (query[0] == 'l' || query[0] == 'L');
    SKERRY_CHECK(word || query[0] == '[' ||
                 query.find_first_not_of("0123456789.:") ==
                     std::string_view::npos);
  } else {
    CheckOneLine(may);
  }
  return 0;
}
