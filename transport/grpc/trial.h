// transport/grpc/trial.h
//
// Dials a worker to find out whether it can be reached: a new connection, the
// identity at its other end, and one round trip.
#ifndef SKERRY_TRANSPORT_GRPC_TRIAL_H_
#define SKERRY_TRANSPORT_GRPC_TRIAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

struct TrialOptions {
  // This worker's name.
  std::string from;
  std::shared_ptr<Credentials> credentials;
  // For one endpoint: to connect and get an answer.
  absl::Duration answer_max = absl::Seconds(5);
};

// Members are called on `loop`, and so are callbacks.
class Trial {
 public:
  // Milliseconds of the round trip. Errors: Unavailable, with one line that
  // says what came of each endpoint.
  using Done = absl::AnyInvocable<void(absl::StatusOr<double>) &&>;

  // `loop` outlives it.
  Trial(TrialOptions options, runtime::EventLoop& loop);
  // Cancels the calls on their way and waits until gRPC has let go of them.
  // Their callbacks do not run.
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Dials the endpoints in turn until one answers as `worker`.
  void Dial(const std::string& worker, std::vector<std::string> endpoints,
            Done done);

 private:
  struct Dialling;

  void Next(std::shared_ptr<Dialling> dialling);
  void Ask(std::shared_ptr<Dialling> dialling, bool is_timed);
  void OnAnswer(std::shared_ptr<Dialling> dialling, bool is_timed,
                const absl::Status& failed);
  void Fail(std::shared_ptr<Dialling> dialling, const std::string& why);

  const TrialOptions options_;
  runtime::EventLoop& loop_;
  OpenCalls open_calls_;
  // Its end tells tasks left on the loop that this is gone.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  // Calls on their way, by their dialling.
  std::vector<std::weak_ptr<Dialling>> under_way_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TRIAL_H_
