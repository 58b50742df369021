// trainer/kit/main/rules.h
//
// The rules that every trainer keeps (proto/skerry/v1/trainer.proto), one by
// one.
#ifndef SKERRY_TRAINER_KIT_MAIN_RULES_H_
#define SKERRY_TRAINER_KIT_MAIN_RULES_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "trainer/kit/main/tried_trainer.h"

namespace skerry::trainer::kit {

// What is under test.
struct Subject {
  std::vector<std::string> command;
  v1::JobSpec job;
  uint64_t batch_samples = 8;
};

// A trainer that is set up, with its description.
struct Ready {
  std::unique_ptr<TriedTrainer> trainer;
  v1::DescribeReply description;
};
absl::StatusOr<Ready> StartReady(const Subject& subject);

struct Rule {
  const char* name;
  // OK: it is kept. Cancelled: it does not apply, for the reason in the
  // message. Anything else: it is broken, and how.
  std::function<absl::Status(const Subject&)> check;
};

// "it does X", as a status of a rule.
absl::Status Broken(const std::string& how);
absl::Status DoesNotApply(const std::string& why);
// Broken unless `status` has the code.
absl::Status Expect(const absl::Status& status, absl::StatusCode code,
                    const std::string& what);

// What a worker learns of a trainer, and what it may say wrongly.
std::span<const Rule> DescribeRules();
// What happens to values.
std::span<const Rule> ValueRules();
// How calls and processes end.
std::span<const Rule> EndRules();

}  // namespace skerry::trainer::kit

#endif  // SKERRY_TRAINER_KIT_MAIN_RULES_H_
