#include "worker/shell/job_shell.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "protocol/peers.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// A job that is over and lacks its last state falls asleep after so many times
// the wait of one that has it.
constexpr int kStuckIdles = 20;

}  // namespace

JobShell::JobShell(const protocol::JobOrders& orders, const JobMachine& machine,
                   absl::AnyInvocable<void()> status_changed)
    : job_(orders.job),
      uid_(orders.uid),
      spec_(orders.spec),
      start_(orders),
      inner_of_base_(FindInnerSource(orders, start_, /*reads_base=*/true)),
      inner_of_newest_(FindInnerSource(orders, start_, /*reads_base=*/false)),
      machine_(machine),
      status_changed_(std::move(status_changed)),
      answers_(machine.loop, [this] { AfterSeat(); }),
      bulk_(job_, machine.bulk, machine.directory, answers_),
      host_(job_, machine.compute, answers_, [this] { status_changed_(); }),
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
      ports_(machine.make_ports(orders, answers_, *this)),
      watcher_(machine.times.watch, machine.loop, *ports_.trainer,
               [this] { status_changed_(); }) {}

JobShell::~JobShell() {
  // The seat may still call the ports while it goes.
  seat_.reset();
}

absl::Status JobShell::Start() {
  opened_at_ = machine_.loop.Now();
  SKERRY_ASSIGN_OR_RETURN(std::vector<StoredFile> on_disk,
                          ports_.folder->Scan());
  SKERRY_RETURN_IF_ERROR(ports_.inner->Tidy());
  reads_base_ = start_.NeedsCheckpoint(on_disk);
  SeatOptions options;
  options.job = job_;
  options.worker = machine_.worker;
  options.on_disk = std::move(on_disk);
  options.fragments = job::FragmentCount(spec_);
  options.goes_on = start_.GoesOn();
  options.disk_retry_interval = machine_.times.disk_retry;
  options.part_bytes = machine_.part_bytes;
  seat_ = std::make_unique<Seat>(
      std::move(options),
      Effects{*ports_.trainer, bulk_, *ports_.folder, *ports_.peers, host_});
  if (spec_.checkpoint.has_value()) CheckFolder();
  progress_.emplace(machine_.loop, [this] { return seat_->Facts(); });
  ReadInner();
  return absl::OkStatus();
}

void JobShell::After(absl::Duration wait, runtime::Task task) {
  machine_.loop.RunAt(
      machine_.loop.Now() + wait,
      [alive = std::weak_ptr<char>(alive_), task = std::move(task)]() mutable {
        if (!alive.expired()) std::move(task)();
      });
}

void JobShell::FetchPiece(const std::string& worker, const PieceKey& key,
                          Done<absl::StatusOr<SharedBytes>> done) {
  absl::StatusOr<SharedBytes> own = seat_->OnFetch(key);
  if (!own.ok()) return bulk_.Fetch(worker, key, std::move(done));
  machine_.loop.Post([&loop = machine_.loop, own = *std::move(own),
                      done = std::move(done)]() mutable {
    std::move(done)(loop.Now(), std::move(own));
  });
}

absl::Status JobShell::OnOrders(Revision revision,
                                const protocol::JobOrders& orders) {
  SKERRY_ASSIGN_OR_RETURN(const JobSettings settings, JobSettingsOf(orders));
  if (!orders.holders.empty()) {
    ports_.trainer->SetHead(orders.holders.front().peer.worker);
  }
  const Instant now = machine_.loop.Now();
  if (!std::exchange(over_, IsOver(orders.phase)) && over_) {
    if (has_orders_) used_at_ = now;
    // What kept it from training keeps nobody from its state.
    fatal_.clear();
    trainer_error_.clear();
    backing_off_ = false;
  }
  has_orders_ = true;
  if (!over_) ports_.data->LookOnce();
  if (ports_.data->OnHolders(orders.data_holders) && !has_trainer_) {
    backing_off_ = false;  // what the last trainer lacked can be fetched now
  }
  seat_->OnOrders(now, revision, orders, settings);
  saver_.OnOrders(orders, elements_);
  AfterSeat();
  return absl::OkStatus();
}

void JobShell::OnBootChanged(const std::string& reason) {
  seat_->OnLifeLost(machine_.loop.Now(), reason);
  AfterSeat();
}

void JobShell::SetDraining(bool draining) {
  const Instant now = machine_.loop.Now();
  draining ? seat_->Drain(now) : seat_->Serve(now);
  AfterSeat();
}

FrameVerdict JobShell::OnFrame(const compression::FrameHeader& header,
                               const SharedBytes& payload) {
  const FrameVerdict verdict =
      seat_->OnFrame(machine_.loop.Now(), header, payload);
  AfterSeat();
  return verdict;
}

absl::StatusOr<SharedBytes> JobShell::OnFetch(const PieceKey& key) {
  used_at_ = machine_.loop.Now();
  return seat_->OnFetch(key);
}

void JobShell::OnDataFetch(const PieceKey& key,
                           transport::BulkReceiver::FetchAnswer answer) {
  used_at_ = machine_.loop.Now();
  ports_.data->Give(key, std::move(answer));
}

void JobShell::OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer) {
  seat_->OnAgreeCut(machine_.loop.Now(), request, std::move(answer));
  AfterSeat();
}

void JobShell::OnMeet(const MeetRequest& request, GroupMeeting::Answer answer) {
  ports_.trainer->OnMeet(request, std::move(answer));
}

void JobShell::OnFolderGone() {
  seat_->OnFolderGone(machine_.loop.Now());
  AfterSeat();
}

protocol::JobFacts JobShell::Facts() const {
  protocol::JobFacts facts = seat_->Facts();
  facts.uid = uid_;
  facts.links = bulk_.Links();
  facts.has_data = ports_.data->has_data();
  if (facts.error.empty() && !over_) facts.error = ports_.data->failure();
  if (facts.error.empty()) facts.error = trainer_error_;
  facts.trainer_trouble = ports_.data->news();
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

bool JobShell::IsAsleep() const {
  if (!over_ || has_trainer_ || seat_->WantsTrainer()) return false;
  const Instant now = machine_.loop.Now();
  const absl::Duration unused =
      used_at_.has_value() ? now - *used_at_ : absl::InfiniteDuration();
  const absl::Duration idle = machine_.times.ended_idle;
  if (seat_->IsAtRest()) return unused >= idle;
  // The last state may be nowhere any more: what this worker has stays on its
  // disk, and orders that name somebody who has it wake the job again.
  return std::min(unused, now - opened_at_) >= kStuckIdles * idle;
}

void JobShell::AfterSeat() {
  ConsiderTrainer();
  ConsiderSave();
  machine_.after_seat();
  const std::optional<Instant> next = seat_->NextDeadline();
  if (!next.has_value()) return;
  if (armed_.has_value() && *armed_ <= *next) return;
  armed_ = next;
  machine_.loop.RunAt(
      *next, [this, when = *next, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired() || armed_ != when) return;
        armed_.reset();
        seat_->OnTime(machine_.loop.Now());
        AfterSeat();
      });
}

}  // namespace skerry::worker
