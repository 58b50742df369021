#include "cli/simulation_plans.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/enum_words.h"
#include "job/convert/job_spec.h"
#include "job/review.h"

namespace skerry::cli {
namespace {

constexpr size_t kPlansMax = 256;

// Returns what is listed or, when nothing is, `own` alone.
template <typename T>
std::vector<T> Or(const std::vector<T>& listed, T own) {
  return listed.empty() ? std::vector<T>{std::move(own)} : listed;
}

std::string MethodWord(v1::JobSpec::OuterMethod method) {
  const std::string full = v1::JobSpec::OuterMethod_Name(method);
  return absl::AsciiStrToLower(full.substr(full.find("METHOD_") + 7));
}

absl::StatusOr<v1::JobSpec::OuterMethod> ReadMethod(const std::string& word) {
  const auto& type = *v1::JobSpec::OuterMethod_descriptor();
  const auto* value = FindEnumWord(type, word);
  if (value == nullptr) {
    const std::vector<std::string> known = EnumWords(type);
    return absl::InvalidArgumentError(
        absl::StrCat("--method: has to be one of ", absl::StrJoin(known, ", "),
                     ", not ", word, DidYouMean(word, known)));
  }
  return static_cast<v1::JobSpec::OuterMethod>(value->number());
}

// A tau or codec that is not set is left out of the name.
std::string NameOf(const job::JobSpec& spec, const SimulationPlan& plan) {
  std::vector<std::string> parts;
  if (spec.training.tau > 0) {
    parts.push_back(absl::StrCat("tau ", spec.training.tau));
  }
  if (!spec.exchange.codec.empty()) parts.push_back(spec.exchange.codec);
  parts.push_back(plan.method);
  parts.push_back(
      absl::StrCat(plan.islands, plan.islands == 1 ? " island" : " islands"));
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<SimulationPlan> MakePlan(const v1::JobSpec& job,
                                        size_t islands) {
  SimulationPlan plan;
  plan.islands = islands;
  plan.method = MethodWord(job.outer().method());
  SKERRY_ASSIGN_OR_RETURN(const job::JobSpec submitted,
                          job::JobSpecFromProto(job));
  auto reviewed = job::ReviewJobSpec(submitted);
  if (!reviewed.ok()) {
    return Annotate(reviewed.status(), NameOf(submitted, plan));
  }
  plan.spec = std::move(reviewed->spec);
  plan.name = NameOf(plan.spec, plan);
  return plan;
}

}  // namespace

absl::StatusOr<std::vector<SimulationPlan>> ListPlans(const v1::JobSpec& job,
                                                      const PlanLists& lists,
                                                      size_t islands) {
  std::vector<v1::JobSpec::OuterMethod> methods;
  for (const std::string& word : lists.methods) {
    SKERRY_ASSIGN_OR_RETURN(const auto method, ReadMethod(word));
    methods.push_back(method);
  }
  // With the defaults of what the job does not say.
  SKERRY_ASSIGN_OR_RETURN(const job::JobSpec said, job::JobSpecFromProto(job));
  methods = Or(methods, job.outer().method());
  const auto counts = Or(lists.islands, islands);
  const auto codecs = Or(lists.codecs, said.exchange.codec);
  const auto taus = Or(lists.taus, said.training.tau);
  for (const size_t count : counts) {
    if (count >= 1 && count <= islands) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--islands: the cluster has ", islands, ", so not ", count));
  }
  const size_t all =
      methods.size() * counts.size() * codecs.size() * taus.size();
  if (all > kPlansMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(all, " plans, at most ", kPlansMax));
  }
  std::vector<SimulationPlan> plans;
  v1::JobSpec one = job;
  for (const auto method : methods) {
    one.mutable_outer()->set_method(method);
    for (const size_t count : counts) {
      for (const std::string& codec : codecs) {
        one.mutable_exchange()->set_codec(codec);
        for (const uint32_t tau : taus) {
          one.mutable_training()->set_tau(tau);
          SKERRY_ASSIGN_OR_RETURN(SimulationPlan plan, MakePlan(one, count));
          plans.push_back(std::move(plan));
        }
      }
    }
  }
  return plans;
}

}  // namespace skerry::cli
