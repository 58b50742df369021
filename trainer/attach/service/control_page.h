// trainer/attach/service/control_page.h
//
// The page in which ranks see that a call has to stop (docs/formats/attach.md).
#ifndef SKERRY_TRAINER_ATTACH_SERVICE_CONTROL_PAGE_H_
#define SKERRY_TRAINER_ATTACH_SERVICE_CONTROL_PAGE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace skerry::trainer::attach {

class ControlPage {
 public:
  // Codes: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<ControlPage>> Create();
  ~ControlPage();
  ControlPage(const ControlPage&) = delete;
  ControlPage& operator=(const ControlPage&) = delete;

  // For the ranks to inherit.
  int fd() const { return fd_; }
  // Asks the ranks to end the call `id`. Any thread.
  void Stop(uint64_t id);

 private:
  ControlPage(int fd, uint64_t* words) : fd_(fd), words_(words) {}

  const int fd_;
  uint64_t* const words_;
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_SERVICE_CONTROL_PAGE_H_
