#include "coordinator/page/page_files.h"

#include "base/check.h"

namespace skerry::coordinator {
namespace {

struct Embedded {
  std::string_view name;
  std::string_view content;
};

constexpr Embedded kEmbedded[] = {
#include "coordinator/page/embedded.inc"
};

std::string_view TypeOf(std::string_view name) {
  constexpr struct {
    std::string_view ending;
    std::string_view type;
  } kTypes[] = {{".html", "text/html; charset=utf-8"},
                {".css", "text/css; charset=utf-8"},
                {".js", "text/javascript; charset=utf-8"},
                {".svg", "image/svg+xml"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.size() > ending.size() &&
        name.substr(name.size() - ending.size()) == ending) {
      return type;
    }
  }
  SKERRY_CHECK(false);
  return {};
}

}  // namespace

std::optional<PageFile> FindPageFile(std::string_view name) {
  for (const Embedded& file : kEmbedded) {
    if (file.name == name) return PageFile{TypeOf(name), file.content};
  }
  return std::nullopt;
}

}  // namespace skerry::coordinator
