// runtime/web.h
//
// Defines requests of a browser and the answers to them, as a server passes
// them on.
#ifndef SKERRY_RUNTIME_WEB_H_
#define SKERRY_RUNTIME_WEB_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace skerry::runtime {

// A GET or HEAD. All of it are bytes of a stranger, except for the address. A
// header that is missing is empty.
struct WebRequest {
  // IP address of the sender.
  std::string address;
  // Begins with a slash; escapes are decoded.
  std::string path;
  // What follows the question mark, as it was sent; empty without one.
  std::string query;
  std::string host;           // header Host
  std::string fetch_site;     // header Sec-Fetch-Site
  std::string last_event_id;  // header Last-Event-ID
};

struct WebAnswer {
  int code = 200;
  // Media type of the body, for the header Content-Type.
  std::string type;
  std::string body;
  // Name and value of each further header.
  std::vector<std::pair<std::string, std::string>> headers;
  // When it is set, the answer is a stream: it is called at once and then once
  // a second, and returns what is sent next. Nothing may be new.
  std::function<std::string()> next;
};

// It is called on the server's threads, also at the same time.
using WebPages = std::function<WebAnswer(const WebRequest&)>;

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_WEB_H_
