// runtime/s3/testing/fake_object_store.h
//
// Keeps an object store in memory, for tests. It answers requests as S3 does,
// and fails where a test says so.
#ifndef SKERRY_RUNTIME_S3_TESTING_FAKE_OBJECT_STORE_H_
#define SKERRY_RUNTIME_S3_TESTING_FAKE_OBJECT_STORE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "runtime/http.h"

namespace skerry::runtime::s3 {

class FakeObjectStore {
 public:
  struct Upload {
    std::string key;
    absl::btree_map<int, std::string> parts;
  };

  explicit FakeObjectStore(std::string bucket) : bucket_(std::move(bucket)) {}

  // An HttpFetch.
  absl::StatusOr<HttpReply> Fetch(const HttpRequest& request);

  absl::btree_map<std::string, std::string> objects;
  absl::btree_map<std::string, Upload> uploads;
  size_t page_keys = 2;
  size_t requests = 0;
  // Called with the number of each request, from 0. A reply or an error takes
  // the place of the answer; a request that is `done` has had its effect.
  std::function<absl::StatusOr<HttpReply>(size_t number,
                                          absl::StatusOr<HttpReply> done)>
      fault = nullptr;

 private:
  HttpReply Answer(const HttpRequest& request);
  HttpReply OfBucket(const std::string& method,
                     const absl::btree_map<std::string, std::string>& query);
  HttpReply OfObject(const HttpRequest& request, const std::string& key,
                     const absl::btree_map<std::string, std::string>& query);

  const std::string bucket_;
  int uploads_made_ = 0;
};

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_TESTING_FAKE_OBJECT_STORE_H_
