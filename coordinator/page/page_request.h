// coordinator/page/page_request.h
//
// Decides what a request to the page asks for, and whether its sender may ask.
// The text of a request comes from a stranger.
#ifndef SKERRY_COORDINATOR_PAGE_PAGE_REQUEST_H_
#define SKERRY_COORDINATOR_PAGE_PAGE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::coordinator {

// Where a reader is in the changes (change_log.h) of one process, whose term is
// the journal's.
struct PageMark {
  uint64_t term = 0;
  uint64_t tick = 0;
  friend bool operator==(const PageMark&, const PageMark&) = default;
};

// "TERM-TICK", both decimal.
std::string FormatMark(const PageMark& mark);
// Errors: InvalidArgument unless `text` is what FormatMark writes.
absl::StatusOr<PageMark> ParseMark(std::string_view text);

// What a sender says of itself. A header that is missing is empty.
struct PageSender {
  // Its IP address, from the connection.
  std::string_view address;
  std::string_view host;        // header Host
  std::string_view fetch_site;  // header Sec-Fetch-Site
};

// Refuses senders on other machines and pages of other sites. A foreign page
// that has its own name lead to this machine (DNS rebinding) shows that name in
// `host`, so only an IP address or "localhost" may stand there.
//
// Errors: PermissionDenied, saying what to do.
absl::Status CheckSender(const PageSender& sender);

struct PageRequest {
  enum class What {
    kFile,     // a file of the page: `name`
    kView,     // everything
    kChanges,  // what changes after `after`, as it happens
  };
  What what = What::kFile;
  std::string name;
  // Unset asks for everything first.
  std::optional<PageMark> after;
  friend bool operator==(const PageRequest&, const PageRequest&) = default;
};

// `path` without the query; `query` without the question mark;
// `last_event_id`: the header with which a browser resumes a stream. It comes
// before the query, which is as old as the stream.
//
// Errors: NotFound, no such path; InvalidArgument, a query or mark that the
// page does not send.
absl::StatusOr<PageRequest> ParsePageRequest(std::string_view path,
                                             std::string_view query,
                                             std::string_view last_event_id);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_PAGE_PAGE_REQUEST_H_
