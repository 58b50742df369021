#include "worker/daemon/job_runtime.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status.h"
#include "checkpoint/same_model.h"
#include "checkpoint/tensor_table.h"
#include "job/convert/job_spec.h"
#include "protocol/peers.h"
#include "runtime/log.h"
#include "worker/daemon/job_folders.h"
#include "worker/daemon/program_model.h"

namespace skerry::worker {
namespace {

// Operators hear so long of a trainer that had to be ended.
constexpr absl::Duration kTroubleKnownFor = absl::Minutes(10);
// After a trainer of a job that is over has failed, another one may be started.
constexpr absl::Duration kPromptAgainAfter = absl::Seconds(1);
// A job that is over and lacks its last state falls asleep after so many times
// the wait of one that has it.
constexpr int kStuckIdles = 20;

JobDataOptions DataOptions(const JobEnvironment& environment) {
  return {.cache = environment.data_cache,
          .server = environment.data_server,
          .places = environment.places,
          .loop = environment.loop,
          .ask = [&loop = environment.loop, &bulk = environment.bulk](
                     const std::string& worker, const PieceKey& key,
                     transport::BulkTransport::FetchDone done) {
            loop.Post([&bulk, worker, key, done = std::move(done)]() mutable {
              bulk.Fetch(worker, key, std::move(done));
            });
          }};
}

}  // namespace

JobRuntime::JobRuntime(const protocol::JobOrders& orders,
                       const JobEnvironment& environment,
                       absl::AnyInvocable<void()> status_changed)
    : job_(orders.job),
      uid_(orders.uid),
      spec_(orders.spec),
      start_(orders),
      environment_(environment),
      folder_(PathOf(environment.state_directory, {orders.job, orders.uid})),
      status_changed_(std::move(status_changed)),
      answers_(environment.loop, [this] { AfterSeat(); }),
      disk_(folder_, environment.files, environment.disk, answers_),
      inner_(folder_, start_.restored().sequence, environment.files,
             environment.inner, environment.loop, [this] { ConsiderSave(); }),
      inner_of_base_(FindInnerSource(orders, start_, /*reads_base=*/true)),
      inner_of_newest_(FindInnerSource(orders, start_, /*reads_base=*/false)),
      trainer_({.job = job_,
                .peers = environment.peers,
                .host = environment.host,
                .address = environment.island_address},
               answers_, inner_,
               [this](const absl::Status& why) {
                 if (TrainerSaid(why)) {
                   trainer_error_ = std::string(why.message());
                 }
                 if (trainer_host_ != nullptr) trainer_host_->OnCallFailed(why);
               }),
      bulk_(job_, environment.bulk, environment.directory, answers_),
      peers_(job_, environment.peers, answers_),
      host_(job_, environment.compute, answers_, [this] { status_changed_(); }),
      saver_(
          job_,
          [this](const std::string& worker, const PieceKey& key,
                 Done<absl::StatusOr<SharedBytes>> done) {
            FetchPiece(worker, key, std::move(done));
          },
          [this](StateToSave state, StateSaver::Written written) {
            Save(std::move(state), std::move(written));
          },
          [this] { status_changed_(); }),
      data_(
          job_, spec_, DataOptions(environment),
          [this](const absl::Status& outcome) { OnData(outcome); },
          [this] { status_changed_(); }) {}

JobRuntime::~JobRuntime() {
  // The seat may still call the ports while it goes.
  seat_.reset();
}

absl::Status JobRuntime::Start() {
  opened_at_ = environment_.loop.Now();
  SKERRY_ASSIGN_OR_RETURN(std::vector<StoredFile> on_disk, disk_.Scan());
  SKERRY_RETURN_IF_ERROR(inner_.Tidy());
  reads_base_ = start_.NeedsCheckpoint(on_disk);
  SeatOptions options;
  options.job = job_;
  options.worker = environment_.worker;
  options.on_disk = std::move(on_disk);
  options.fragments = job::FragmentCount(spec_);
  options.goes_on = start_.GoesOn();
  seat_ = std::make_unique<Seat>(
      std::move(options), Effects{trainer_, bulk_, disk_, peers_, host_});
  disk_.set_on_gone([this] { seat_->OnFolderGone(environment_.loop.Now()); });
  if (spec_.checkpoint.has_value()) CheckFolder();
  progress_.emplace(environment_.loop, [this] { return seat_->Facts(); });
  ReadInner();
  return absl::OkStatus();
}

void JobRuntime::FetchPiece(const std::string& worker, const PieceKey& key,
                            Done<absl::StatusOr<SharedBytes>> done) {
  absl::StatusOr<SharedBytes> own = seat_->OnFetch(key);
  if (!own.ok()) return bulk_.Fetch(worker, key, std::move(done));
  environment_.loop.Post([&loop = environment_.loop, own = *std::move(own),
                          done = std::move(done)]() mutable {
    std::move(done)(loop.Now(), std::move(own));
  });
}

absl::Status JobRuntime::OnOrders(Revision revision,
                                  const protocol::JobOrders& orders) {
  SKERRY_ASSIGN_OR_RETURN(const JobSettings settings, JobSettingsOf(orders));
  if (!orders.holders.empty()) {
    trainer_.set_head(orders.holders.front().peer.worker);
  }
  const Instant now = environment_.loop.Now();
  if (!std::exchange(over_, IsOver(orders.phase)) && over_) {
    if (has_orders_) used_at_ = now;
    // What kept it from training keeps nobody from its state.
    fatal_.clear();
    trainer_error_.clear();
    backing_off_ = false;
  }
  has_orders_ = true;
  if (!over_) data_.LookOnce();
  if (data_.OnHolders(orders.data_holders) && trainer_host_ == nullptr) {
    backing_off_ = false;  // what the last trainer lacked can be fetched now
  }
  seat_->OnOrders(now, revision, orders, settings);
  saver_.OnOrders(orders, elements_);
  AfterSeat();
  return absl::OkStatus();
}

void JobRuntime::OnBootChanged(const std::string& reason) {
  seat_->OnLifeLost(environment_.loop.Now(), reason);
  AfterSeat();
}

void JobRuntime::SetDraining(bool draining) {
  const Instant now = environment_.loop.Now();
  draining ? seat_->Drain(now) : seat_->Serve(now);
  AfterSeat();
}

FrameVerdict JobRuntime::OnFrame(const compression::FrameHeader& header,
                                 const SharedBytes& payload) {
  const FrameVerdict verdict =
      seat_->OnFrame(environment_.loop.Now(), header, payload);
  AfterSeat();
  return verdict;
}

absl::StatusOr<SharedBytes> JobRuntime::OnFetch(const PieceKey& key) {
  used_at_ = environment_.loop.Now();
  return seat_->OnFetch(key);
}

void JobRuntime::OnDataFetch(const PieceKey& key,
                             transport::BulkReceiver::FetchAnswer answer) {
  used_at_ = environment_.loop.Now();
  data_.Give(key, std::move(answer));
}

void JobRuntime::OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer) {
  seat_->OnAgreeCut(environment_.loop.Now(), request, std::move(answer));
  AfterSeat();
}

std::string JobRuntime::TrainerTrouble() const {
  if (trainer_host_ != nullptr) {
    std::string now = trainer_host_->trouble();
    if (!now.empty()) return now;
  }
  if (hangs_ == 0) return "";
  const absl::Duration ago = environment_.loop.Now() - hung_at_;
  if (ago > kTroubleKnownFor) return "";
  return absl::StrFormat(
      "%s; it was ended %.0f s ago, and %d trainer(s) of the job were so here",
      hang_, absl::ToDoubleSeconds(ago), hangs_);
}

protocol::JobFacts JobRuntime::Facts() const {
  protocol::JobFacts facts = seat_->Facts();
  facts.uid = uid_;
  facts.links = bulk_.Links();
  facts.has_data = data_.has_data();
  if (facts.error.empty() && !over_) facts.error = data_.failure();
  if (facts.error.empty()) facts.error = trainer_error_;
  facts.trainer_trouble = data_.news();
  if (facts.trainer_trouble.empty()) facts.trainer_trouble = TrainerTrouble();
  if (facts.error.empty() && facts.state == protocol::SeatState::kRecovering) {
    facts.error = restore_error_;
  }
  facts.checkpoint = saver_.outcome();
  facts.checkpoint_trouble = folder_error_;
  if (!fatal_.empty()) {
    facts.state = protocol::SeatState::kFailed;
    facts.error = fatal_;
  }
  return facts;
}

bool JobRuntime::IsAsleep() const {
  if (!over_ || trainer_host_ != nullptr || seat_->WantsTrainer()) return false;
  const Instant now = environment_.loop.Now();
  const absl::Duration unused =
      used_at_.has_value() ? now - *used_at_ : absl::InfiniteDuration();
  if (seat_->IsAtRest()) return unused >= environment_.ended_idle;
  // The last state may be nowhere any more: what this worker has stays on its
  // disk, and orders that name somebody who has it wake the job again.
  return std::min(unused, now - opened_at_) >=
         kStuckIdles * environment_.ended_idle;
}

void JobRuntime::ConsiderTrainer() {
  if (!can_train_) return;
  const Instant now = environment_.loop.Now();
  if (seat_->WantsTrainer()) {
    if (over_) used_at_ = now;
    if (over_) prompted_at_ = now;
    if (trainer_host_ == nullptr && !backing_off_ && data_.Take()) {
      StartTrainer();
    }
    if (data_.is_fetching()) fatal_.clear();
    return;
  }
  if (trainer_host_ == nullptr) return data_.Release();
  const Instant until =
      prompted_at_.has_value() ? *prompted_at_ + environment_.ended_idle : now;
  if (now < until) {
    environment_.loop.RunAt(until, [this, alive = std::weak_ptr<char>(alive_)] {
      if (!alive.expired()) ConsiderTrainer();
    });
    return;
  }
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.end",
               {{"job", job_.value()}});
  DropTrainer();
  data_.Release();
  seat_->OnTrainerEnded(now);
  AfterSeat();
}

void JobRuntime::DropTrainer() {
  trainer_.Attach(nullptr);
  ready_ = false;
  if (trainer_host_ == nullptr) return;
  // Whoever drops it may be called by it.
  trainer_host_->Silence();
  environment_.loop.Post(
      [host = std::shared_ptr<TrainerHost>(std::move(trainer_host_))] {});
}

void JobRuntime::StartTrainer() {
  if (!spec_.model.program.has_value()) {
    return Launch(environment_.trainer_command);
  }
  backing_off_ = true;  // until it is known which file that is
  environment_.programs.Find(
      *spec_.model.program, [this, alive = std::weak_ptr<char>(alive_)](
                                absl::StatusOr<std::string> file) {
        if (alive.expired()) return;
        if (!file.ok()) return OnTrainerFailed(file.status());
        backing_off_ = false;
        if (trainer_host_ != nullptr || !seat_->WantsTrainer()) return;
        std::vector<std::string> command = environment_.attach_command;
        command.push_back(absl::StrCat("--program=", *file));
        command.push_back(absl::StrCat("--log-directory=", folder_));
        Launch(std::move(command));
      });
}

void JobRuntime::Launch(std::vector<std::string> command) {
  TrainerHostOptions options;
  options.command = std::move(command);
  options.run_directory = environment_.run_directory;
  // The trainer of before a restore may still be on its way out.
  options.name = absl::StrCat(
      environment_.worker, "-", getpid(), "-", job_.value(), "-",
      start_.restored().sequence.value(), "-", ++trainers_started_);
  job::JobSpecToProto(spec_, &options.job);
  options.job.mutable_data()->set_path(data_.folder());
  options.data_verified = data_verified_ || data_.is_verified();
  options.longest_step = longest_step_;
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.start",
               {{"job", job_.value()}, {"tries", trainers_started_}});
  trainer_host_ = std::make_unique<TrainerHost>(
      std::move(options), environment_.loop,
      [this](const v1::DescribeReply& reply) { OnTrainerReady(reply); },
      [this](absl::Status status) { OnTrainerFailed(std::move(status)); },
      [this] { status_changed_(); });
}

absl::Status JobRuntime::TakeProgram(const v1::DescribeReply& reply) {
  if (!spec_.model.program.has_value()) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(checkpoint::ProgramModel model,
                          ProgramModelOf(reply));
  if (starting_tensors_.has_value()) {
    SKERRY_RETURN_IF_ERROR(
        Annotate(checkpoint::CheckSameTensors(model.table, *starting_tensors_),
                 "model.checkpoint"));
  }
  program_ = std::make_shared<checkpoint::ProgramModel>(std::move(model));
  return absl::OkStatus();
}

void JobRuntime::OnTrainerReady(const v1::DescribeReply& reply) {
  if (const absl::Status fits = TakeProgram(reply); !fits.ok()) {
    return trainer_host_->OnCallFailed(fits);
  }
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.ready",
               {{"job", job_.value()},
                {"pid", trainer_host_->pid()},
                {"elements", reply.element_count()},
                {"implementation", reply.implementation()}});
  ready_ = true;
  fatal_.clear();
  data_verified_ = true;
  elements_ = reply.element_count();
  trainer_error_.clear();
  trainer_.Attach(trainer_host_.get());
  seat_->OnTrainerReady(environment_.loop.Now(), DescriptionOf(reply));
  AfterSeat();
}

void JobRuntime::OnTrainerFailed(absl::Status status) {
  runtime::Log(runtime::Severity::kWarning, "worker.trainer.failed",
               {{"job", job_.value()}, {"cause", status}});
  const bool was_ready = ready_;
  if (trainer_host_ != nullptr) {
    longest_step_ = trainer_host_->watch().longest_step();
  }
  if (absl::IsDeadlineExceeded(status)) {
    ++hangs_;
    hang_ = std::string(status.message());
    hung_at_ = environment_.loop.Now();
  }
  DropTrainer();
  data_.Release();
  const TrainerFailures::Verdict verdict =
      failures_.OnFailure(status, seat_->Facts().counters.rounds, was_ready);
  if (!over_) trainer_error_ = verdict.reason;
  // A job that has ended is served although it cannot be trained.
  if (verdict.unfit && !over_) fatal_ = verdict.reason;
  backing_off_ = true;
  seat_->OnTrainerFailed(environment_.loop.Now(), verdict.reason);
  AfterSeat();
  absl::Duration wait =
      verdict.restart_after.value_or(absl::InfiniteDuration());
  // The next prompt tries once more, however many trainers have failed.
  if (over_) wait = std::min(wait, kPromptAgainAfter);
  if (wait == absl::InfiniteDuration()) return;
  environment_.loop.RunAt(environment_.loop.Now() + wait,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (alive.expired()) return;
                            backing_off_ = false;
                            ConsiderTrainer();
                          });
}

void JobRuntime::OnData(const absl::Status& outcome) {
  status_changed_();
  if (outcome.ok() || !over_) return ConsiderTrainer();
  // Whoever asks a job that is over for text is told why there is none.
  seat_->OnTrainerFailed(environment_.loop.Now(),
                         std::string(outcome.message()));
  AfterSeat();
}

void JobRuntime::AfterSeat() {
  ConsiderTrainer();
  ConsiderSave();
  const std::optional<Instant> next = seat_->NextDeadline();
  if (!next.has_value()) return;
  if (armed_.has_value() && *armed_ <= *next) return;
  armed_ = next;
  environment_.loop.RunAt(
      *next, [this, when = *next, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired() || armed_ != when) return;
        armed_.reset();
        seat_->OnTime(environment_.loop.Now());
        AfterSeat();
      });
}

}  // namespace skerry::worker
