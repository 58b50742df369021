// coordinator/page/page_files.h
//
// Gives the files of the page. They are a part of the program, so the page is
// always that of the release that serves it.
#ifndef SKERRY_COORDINATOR_PAGE_PAGE_FILES_H_
#define SKERRY_COORDINATOR_PAGE_PAGE_FILES_H_

#include <optional>
#include <string_view>

namespace skerry::coordinator {

struct PageFile {
  // The media type, for the header Content-Type.
  std::string_view type;
  std::string_view content;
};

// Unset when there is no such file.
std::optional<PageFile> FindPageFile(std::string_view name);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_PAGE_PAGE_FILES_H_
