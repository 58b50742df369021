// runtime/posix/curl_http.h
//
// Sends requests over HTTP and HTTPS with libcurl, straight to the server: it
// uses no proxy of the environment and follows no redirection.
#ifndef SKERRY_RUNTIME_POSIX_CURL_HTTP_H_
#define SKERRY_RUNTIME_POSIX_CURL_HTTP_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/http.h"
#include "runtime/posix/mutex.h"

namespace skerry::runtime {

class CurlHttp {
 public:
  CurlHttp();
  CurlHttp(const CurlHttp&) = delete;
  CurlHttp& operator=(const CurlHttp&) = delete;

  // An HttpFetch. Returns before this object goes.
  absl::StatusOr<HttpReply> Fetch(const HttpRequest& request);
  // Waits so long, or until Cancel.
  void Pause(absl::Duration time);
  // Ends all calls of Fetch and Pause, and later ones at once. Any thread.
  void Cancel();

 private:
  class Call;

  Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  CondVar cancelling_;  // cancelled_ became true
  // Their CURLM.
  absl::btree_set<void*> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_CURL_HTTP_H_
