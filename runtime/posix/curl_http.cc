#include "runtime/posix/curl_http.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "runtime/posix/monotonic_clock.h"

namespace skerry::runtime {
namespace {

constexpr size_t kHeaderBytesMax = 16 << 10;
// The longest wait without a look at how the transfer stands.
constexpr int kPollMs = 1000;

}  // namespace

// One request on its way.
class CurlHttp::Call {
 public:
  explicit Call(const HttpRequest& request)
      : request_(request), easy_(curl_easy_init()), multi_(curl_multi_init()) {
    SKERRY_CHECK(easy_ != nullptr && multi_ != nullptr);
    for (const auto& [name, value] : request.headers) {
      headers_ =
          curl_slist_append(headers_, absl::StrCat(name, ": ", value).c_str());
      SKERRY_CHECK(headers_ != nullptr);
    }
    // A server that waits for the body without asking would hold it up.
    headers_ = curl_slist_append(headers_, "Expect:");
    Set(CURLOPT_URL, request.url.c_str());
    Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    Set(CURLOPT_HTTPHEADER, headers_);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_PROXY, "");
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_TIMEOUT_MS,
        static_cast<long>(absl::ToInt64Milliseconds(request.timeout)));
    if (request.stalled_max != absl::InfiniteDuration()) {
      Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
      Set(CURLOPT_LOW_SPEED_TIME,
          static_cast<long>(absl::ToInt64Seconds(request.stalled_max)));
    }
    if (!request.ca_file.empty()) Set(CURLOPT_CAINFO, request.ca_file.c_str());
    // The reply to a HEAD names the length of a body that does not come.
    if (request.method == "HEAD") Set(CURLOPT_NOBODY, 1L);
    if (request.body.has_value()) SendBody();
    Set(CURLOPT_WRITEFUNCTION, &Call::OnBody);
    Set(CURLOPT_WRITEDATA, this);
    Set(CURLOPT_HEADERFUNCTION, &Call::OnHeader);
    Set(CURLOPT_HEADERDATA, this);
    SKERRY_CHECK(curl_multi_add_handle(multi_, easy_) == CURLM_OK);
  }
  ~Call() {
    curl_multi_remove_handle(multi_, easy_);
    curl_multi_cleanup(multi_);
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  CURLM* multi() { return multi_; }

  // Goes on until something has happened. False once the transfer is over.
  bool Step() {
    int running = 0;
    if (curl_multi_perform(multi_, &running) != CURLM_OK || running == 0) {
      return false;
    }
    return curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr) == CURLM_OK;
  }

  absl::StatusOr<HttpReply> Result() {
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi_, &left);
    const CURLcode code = message != nullptr && message->msg == CURLMSG_DONE
                              ? message->data.result
                              : CURLE_FAILED_INIT;
    if (code != CURLE_OK) return absl::UnavailableError(WhyFailed(code));
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    reply_.code = static_cast<int>(status);
    return std::move(reply_);
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    SKERRY_CHECK(curl_easy_setopt(easy_, option, value) == CURLE_OK);
  }

  void SendBody() {
    Set(CURLOPT_UPLOAD, 1L);
    Set(CURLOPT_INFILESIZE_LARGE,
        static_cast<curl_off_t>(request_.body->size()));
    Set(CURLOPT_READFUNCTION, &Call::OnSend);
    Set(CURLOPT_READDATA, this);
  }

  std::string WhyFailed(CURLcode code) const {
    if (too_long_) {
      return absl::StrCat("the reply has more than ", request_.body_bytes_max,
                          " bytes");
    }
    if (code == CURLE_OPERATION_TIMEDOUT) {
      return absl::StrCat("no reply within ",
                          absl::FormatDuration(request_.timeout));
    }
    return curl_easy_strerror(code);
  }

  static size_t OnSend(char* to, size_t, size_t room, void* self) {
    Call& call = *static_cast<Call*>(self);
    const auto left = call.request_.body->subspan(call.sent_);
    const size_t some = std::min(room, left.size());
    std::copy_n(reinterpret_cast<const char*>(left.data()), some, to);
    call.sent_ += some;
    return some;
  }

  static size_t OnBody(char* data, size_t, size_t size, void* self) {
    Call& call = *static_cast<Call*>(self);
    if (size > call.request_.body_bytes_max - call.reply_.body.size()) {
      call.too_long_ = true;
      return 0;
    }
    call.reply_.body.append(data, size);
    return size;
  }

  static size_t OnHeader(char* data, size_t, size_t size, void* self) {
    Call& call = *static_cast<Call*>(self);
    call.header_bytes_ += size;
    if (call.header_bytes_ > kHeaderBytesMax) return 0;
    const absl::string_view line(data, size);
    const size_t colon = line.find(':');
    if (absl::StartsWith(line, "HTTP/")) {
      call.reply_.headers.clear();
    } else if (colon != line.npos) {
      call.reply_.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
          std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
    return size;
  }

  const HttpRequest& request_;
  CURL* const easy_;
  CURLM* const multi_;
  curl_slist* headers_ = nullptr;
  HttpReply reply_;
  size_t header_bytes_ = 0;
  size_t sent_ = 0;
  bool too_long_ = false;
};

CurlHttp::CurlHttp() {
  // Once more in a process does nothing.
  SKERRY_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

absl::StatusOr<HttpReply> CurlHttp::Fetch(const HttpRequest& request) {
  Call call(request);
  const auto cancelled = [this] {
    const MutexLock lock(mutex_);
    return cancelled_;
  };
  {
    const MutexLock lock(mutex_);
    waiting_.insert(call.multi());
  }
  while (!cancelled() && call.Step()) {
  }
  {
    const MutexLock lock(mutex_);
    waiting_.erase(call.multi());
    if (cancelled_) return absl::CancelledError("nobody waits for the reply");
  }
  return call.Result();
}

void CurlHttp::Pause(absl::Duration time) {
  const Instant end = MonotonicNow() + time;
  const MutexLock lock(mutex_);
  while (!cancelled_ && cancelling_.WaitUntil(mutex_, end)) {
  }
}

void CurlHttp::Cancel() {
  const MutexLock lock(mutex_);
  cancelled_ = true;
  cancelling_.NotifyAll();
  for (void* multi : waiting_) curl_multi_wakeup(multi);
}

}  // namespace skerry::runtime
