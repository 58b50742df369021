#include "runtime/s3/answers.h"

#include <expat.h>

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::runtime::s3 {
namespace {

constexpr size_t kDepthMax = 16;
constexpr size_t kTextBytesMax = 8 << 10;

// Calls at the end of every element: its path from the root, "A/B/C", without
// namespaces, and the text directly in it.
using OnElement =
    std::function<void(const std::string& path, const std::string& text)>;

class Walk {
 public:
  explicit Walk(OnElement on_element)
      : on_element_(std::move(on_element)),
        parser_(XML_ParserCreateNS(nullptr, ' ')) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &Walk::Begin, &Walk::End);
    XML_SetCharacterDataHandler(parser_.get(), &Walk::Text);
    // No answer declares entities, and expanding them can take for ever.
    XML_SetStartDoctypeDeclHandler(parser_.get(), &Walk::Doctype);
  }

  absl::Status Run(std::string_view xml) {
    // Longer ones do not fit the parser's length; no answer comes near it.
    if (xml.size() > (size_t{64} << 20)) return Bad("it is too long");
    const XML_Status status = XML_Parse(parser_.get(), xml.data(),
                                        static_cast<int>(xml.size()), XML_TRUE);
    if (status == XML_STATUS_OK && !stopped_) return absl::OkStatus();
    return Bad(XML_ErrorString(XML_GetErrorCode(parser_.get())));
  }

 private:
  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };
  struct Level {
    size_t path_bytes;  // before it
    std::string text;
  };

  static absl::Status Bad(const char* why) {
    return absl::DataLossError(
        absl::StrCat("the object store's answer cannot be read: ", why));
  }

  void Stop() {
    stopped_ = true;
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  static void Begin(void* self, const XML_Char* name, const XML_Char**) {
    Walk& walk = *static_cast<Walk*>(self);
    if (walk.levels_.size() == kDepthMax) return walk.Stop();
    std::string_view local = name;
    if (const size_t space = local.rfind(' '); space != local.npos) {
      local.remove_prefix(space + 1);
    }
    walk.levels_.push_back({walk.path_.size(), ""});
    if (!walk.path_.empty()) walk.path_ += '/';
    walk.path_ += local;
  }
  static void End(void* self, const XML_Char*) {
    Walk& walk = *static_cast<Walk*>(self);
    walk.on_element_(walk.path_, walk.levels_.back().text);
    walk.path_.resize(walk.levels_.back().path_bytes);
    walk.levels_.pop_back();
  }
  static void Text(void* self, const XML_Char* text, int size) {
    Walk& walk = *static_cast<Walk*>(self);
    std::string& own = walk.levels_.back().text;
    if (own.size() + static_cast<size_t>(size) > kTextBytesMax) {
      return walk.Stop();
    }
    own.append(text, static_cast<size_t>(size));
  }
  static void Doctype(void* self, const XML_Char*, const XML_Char*,
                      const XML_Char*, int) {
    static_cast<Walk*>(self)->Stop();
  }

  const OnElement on_element_;
  const std::unique_ptr<XML_ParserStruct, Free> parser_;
  std::string path_;
  std::vector<Level> levels_;
  bool stopped_ = false;
};

// Reads a document whose root has that name.
absl::Status Read(std::string_view xml, const std::string& root,
                  const OnElement& on_element) {
  bool is_it = false;
  SKERRY_RETURN_IF_ERROR(
      Walk([&](const std::string& path, const std::string& text) {
        is_it |= path == root;
        on_element(path, text);
      }).Run(xml));
  if (is_it) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the object store's answer is no ", root));
}

// A marker counts only where the store says that there is more.
template <typename... Markers>
absl::Status CheckMore(bool more, Markers&... markers) {
  if (more && (markers.empty() || ...)) {
    return absl::DataLossError(
        "the object store says that there is more, and not where");
  }
  if (!more) (markers.clear(), ...);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeyPage> ReadKeyPage(std::string_view xml) {
  const std::string root = "ListBucketResult";
  KeyPage page;
  bool more = false;
  SKERRY_RETURN_IF_ERROR(
      Read(xml, root, [&](const std::string& path, const std::string& text) {
        if (path == root + "/Contents/Key") page.keys.push_back(text);
        if (path == root + "/IsTruncated") more = text == "true";
        if (path == root + "/NextContinuationToken") page.next = text;
      }));
  SKERRY_RETURN_IF_ERROR(CheckMore(more, page.next));
  return page;
}

absl::StatusOr<UploadPage> ReadUploadPage(std::string_view xml) {
  const std::string root = "ListMultipartUploadsResult";
  UploadPage page;
  UploadPage::Upload one;
  bool more = false;
  SKERRY_RETURN_IF_ERROR(
      Read(xml, root, [&](const std::string& path, const std::string& text) {
        if (path == root + "/Upload/Key") one.key = text;
        if (path == root + "/Upload/UploadId") one.id = text;
        if (path == root + "/Upload") {
          page.uploads.push_back(std::exchange(one, {}));
        }
        if (path == root + "/IsTruncated") more = text == "true";
        if (path == root + "/NextKeyMarker") page.next_key = text;
        if (path == root + "/NextUploadIdMarker") page.next_id = text;
      }));
  SKERRY_RETURN_IF_ERROR(CheckMore(more, page.next_key, page.next_id));
  return page;
}

absl::StatusOr<std::string> ReadUploadId(std::string_view xml) {
  const std::string root = "InitiateMultipartUploadResult";
  std::string id;
  SKERRY_RETURN_IF_ERROR(
      Read(xml, root, [&](const std::string& path, const std::string& text) {
        if (path == root + "/UploadId") id = text;
      }));
  if (id.empty()) {
    return absl::DataLossError("the object store names no id of the upload");
  }
  return id;
}

std::optional<Failure> ReadFailure(std::string_view xml) {
  Failure failure;
  const absl::Status read =
      Read(xml, "Error", [&](const std::string& path, const std::string& text) {
        const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
        if (path == "Error/Code") failure.code = std::string(trimmed);
        if (path == "Error/Message") failure.message = std::string(trimmed);
      });
  if (!read.ok() || failure.code.empty()) return std::nullopt;
  return failure;
}

}  // namespace skerry::runtime::s3
