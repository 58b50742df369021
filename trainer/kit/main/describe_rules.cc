#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/release.h"
#include "base/status.h"
#include "trainer/kit/main/rules.h"

namespace skerry::trainer::kit {
namespace {

using Stub = TriedTrainer::Stub;
using Code = absl::StatusCode;

absl::Status TensorsCoverTheState(const v1::DescribeReply& reply) {
  uint64_t end = 0;
  for (const v1::Tensor& tensor : reply.tensors()) {
    uint64_t elements = 1;
    for (const uint64_t extent : tensor.shape()) elements *= extent;
    if (tensor.offset() != end || elements == 0) {
      return Broken(absl::StrCat("the tensor ", tensor.name(), " begins at ",
                                 tensor.offset(), ", not at ", end));
    }
    end += elements;
  }
  if (reply.tensors_size() > 0 && end != reply.element_count()) {
    return Broken(absl::StrCat("the tensors have ", end, " elements of ",
                               reply.element_count()));
  }
  return absl::OkStatus();
}

absl::Status Sizing(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const auto trainer,
                          TriedTrainer::Start(subject.command, subject.job));
  v1::DescribeReply reply;
  SKERRY_RETURN_IF_ERROR(
      trainer->Call(&Stub::Describe, trainer->DescribeRequest(), reply));
  if (reply.protocol_version() != kProtocolVersion) {
    return Broken(absl::StrCat("its protocol_version is ",
                               reply.protocol_version(), ", not ",
                               kProtocolVersion));
  }
  if (reply.element_count() == 0) return Broken("element_count is 0");
  if (reply.epoch_samples() == 0) return Broken("epoch_samples is 0");
  if (reply.capabilities().ranks() == 0) {
    return Broken("capabilities.ranks is 0");
  }
  return TensorsCoverTheState(reply);
}

absl::Status Repetition(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  v1::DescribeReply again;
  SKERRY_RETURN_IF_ERROR(ready.trainer->Call(
      &Stub::Describe, ready.trainer->DescribeRequest(), again));
  if (again.SerializeAsString() != ready.description.SerializeAsString()) {
    return Broken("the same Describe has another answer");
  }
  return absl::OkStatus();
}

absl::Status AnotherJob(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  v1::DescribeRequest request = ready.trainer->DescribeRequest();
  request.mutable_job()->set_name("another-job");
  v1::DescribeReply reply;
  SKERRY_RETURN_IF_ERROR(
      Expect(ready.trainer->Call(&Stub::Describe, request, reply),
             Code::kInvalidArgument, "a Describe of another job"));
  return ready.trainer->Run(0, subject.batch_samples, subject.batch_samples);
}

absl::Status AnotherVersion(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  v1::DescribeRequest request = ready.trainer->DescribeRequest();
  request.set_protocol_version(kProtocolVersion + 1000);
  v1::DescribeReply reply;
  SKERRY_RETURN_IF_ERROR(
      Expect(ready.trainer->Call(&Stub::Describe, request, reply),
             Code::kInvalidArgument, "a Describe of another version"));
  return ready.trainer->Run(0, subject.batch_samples, subject.batch_samples);
}

absl::Status BeforeSetUp(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const auto trainer,
                          TriedTrainer::Start(subject.command, subject.job));
  SKERRY_RETURN_IF_ERROR(
      Expect(trainer->Run(0, subject.batch_samples, subject.batch_samples),
             Code::kFailedPrecondition, "a Run before Describe"));
  v1::DescribeReply reply;
  SKERRY_RETURN_IF_ERROR(
      trainer->Call(&Stub::Describe, trainer->DescribeRequest(), reply));
  SKERRY_RETURN_IF_ERROR(Expect(trainer->Snapshot({0, 1}),
                                Code::kFailedPrecondition,
                                "a Snapshot without a memory"));
  return Expect(trainer->Load({0, 1}), Code::kFailedPrecondition,
                "a Load without a memory");
}

absl::Status InitialHash(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  SKERRY_ASSIGN_OR_RETURN(const auto values, ready.trainer->Values());
  const uint64_t hash = Hash64Of(std::span<const float>(values));
  if (hash == ready.description.initial_hash()) return absl::OkStatus();
  return Broken(absl::StrCat("initial_hash is ",
                             ready.description.initial_hash(),
                             ", the initial values have ", hash));
}

absl::Status UnknownFields(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  v1::DescribeRequest describe = ready.trainer->DescribeRequest();
  v1::RunRequest run;
  run.add_ranges()->set_end(subject.batch_samples);
  run.set_replica_batch_samples(subject.batch_samples);
  for (google::protobuf::Message* message :
       {static_cast<google::protobuf::Message*>(&describe),
        static_cast<google::protobuf::Message*>(&run)}) {
    message->GetReflection()->MutableUnknownFields(message)->AddVarint(9999, 1);
  }
  v1::DescribeReply described;
  SKERRY_RETURN_IF_ERROR(
      ready.trainer->Call(&Stub::Describe, describe, described));
  v1::RunReply ran;
  return ready.trainer->Call(&Stub::Run, run, ran);
}

// What is not in capabilities answers UNIMPLEMENTED and changes nothing.
absl::Status WhatItCannotDo(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  const v1::Capabilities& can = ready.description.capabilities();
  if (can.evaluates() && can.generates() && can.groups() && can.saves_inner()) {
    return DoesNotApply("it can do everything");
  }
  SKERRY_ASSIGN_OR_RETURN(const auto before, ready.trainer->Values());
  if (!can.evaluates()) {
    v1::EvaluateReply reply;
    SKERRY_RETURN_IF_ERROR(Expect(
        ready.trainer->Call(&Stub::Evaluate, v1::EvaluateRequest(), reply),
        Code::kUnimplemented, "Evaluate, which it cannot"));
  }
  if (!can.generates()) {
    v1::GenerateRequest request;
    request.set_tokens(1);
    v1::GenerateReply reply;
    SKERRY_RETURN_IF_ERROR(
        Expect(ready.trainer->Call(&Stub::Generate, request, reply),
               Code::kUnimplemented, "Generate, which it cannot"));
  }
  if (!can.saves_inner()) {
    v1::SaveInnerReply saved;
    SKERRY_RETURN_IF_ERROR(Expect(
        ready.trainer->Call(&Stub::SaveInner, v1::SaveInnerRequest(), saved),
        Code::kUnimplemented, "SaveInner, which it cannot"));
    v1::LoadInnerReply loaded;
    SKERRY_RETURN_IF_ERROR(Expect(
        ready.trainer->Call(&Stub::LoadInner, v1::LoadInnerRequest(), loaded),
        Code::kUnimplemented, "LoadInner, which it cannot"));
  }
  if (!can.groups()) {
    v1::OpenGroupRequest open;
    open.set_size(2);
    v1::OpenGroupReply opened;
    SKERRY_RETURN_IF_ERROR(
        Expect(ready.trainer->Call(&Stub::OpenGroup, open, opened),
               Code::kUnimplemented, "OpenGroup, which it cannot"));
    v1::GroupRequest request;
    request.set_bootstrap("of nobody");
    request.set_size(2);
    v1::GroupReply reply;
    SKERRY_RETURN_IF_ERROR(
        Expect(ready.trainer->Call(&Stub::Group, request, reply),
               Code::kUnimplemented, "a Group of two, which it cannot"));
    request.clear_bootstrap();
    request.set_size(1);
    SKERRY_RETURN_IF_ERROR(
        Expect(ready.trainer->Call(&Stub::Group, request, reply), Code::kOk,
               "a Group of one"));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto after, ready.trainer->Values());
  if (after != before) return Broken("the values have changed");
  return ready.trainer->Run(0, subject.batch_samples, subject.batch_samples);
}

const Rule kRules[] = {
    {"Describe sizes the model", Sizing},
    {"the same Describe has the same answer", Repetition},
    {"another job is refused", AnotherJob},
    {"another version of the seam is refused", AnotherVersion},
    {"calls that come too early are refused", BeforeSetUp},
    {"initial_hash is that of the values", InitialHash},
    {"unknown fields are ignored", UnknownFields},
    {"what it cannot do answers UNIMPLEMENTED", WhatItCannotDo}};

}  // namespace

std::span<const Rule> DescribeRules() { return kRules; }

}  // namespace skerry::trainer::kit
