// base/status.h
//
// Early return on errors, and one place to add what was being done.
#ifndef SKERRY_BASE_STATUS_H_
#define SKERRY_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

// Returns from the enclosing function unless `expression` is OK.
#define SKERRY_RETURN_IF_ERROR(expression)           \
  do {                                               \
    absl::Status skerry_status_ = (expression);      \
    if (!skerry_status_.ok()) return skerry_status_; \
  } while (false)

#define SKERRY_STATUS_CONCAT_INNER_(a, b) a##b
#define SKERRY_STATUS_CONCAT_(a, b) SKERRY_STATUS_CONCAT_INNER_(a, b)

// Assigns the value of a StatusOr to `target`, or returns its error.
#define SKERRY_ASSIGN_OR_RETURN(target, expression) \
  SKERRY_ASSIGN_OR_RETURN_INNER_(                   \
      SKERRY_STATUS_CONCAT_(skerry_status_or_, __LINE__), target, expression)
#define SKERRY_ASSIGN_OR_RETURN_INNER_(holder, target, expression) \
  auto holder = (expression);                                      \
  if (!holder.ok()) return holder.status();                        \
  target = *std::move(holder)

namespace skerry {

// Prefixes an error with what was being done; OK stays OK.
inline absl::Status Annotate(const absl::Status& status,
                             absl::string_view doing) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(doing, ": ", status.message()));
}

}  // namespace skerry

#endif  // SKERRY_BASE_STATUS_H_
