#include "simulator/job_ports.h"

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "proto/skerry/v1/peer.pb.h"
#include "simulator/worker_node.h"
#include "simulator/world.h"
#include "worker/convert/peer.h"
#include "worker/daemon/store_file.h"

namespace skerry::sim {
namespace {

using worker::Done;
using worker::StoredFile;

constexpr size_t kAlignment = 64;
constexpr double kMessageBytes = 100;
// So long does half of a checkpoint take to be written, or the whole to be
// read, at most.
constexpr uint64_t kCheckpointUs = 200'000;

}  // namespace

SimFolder::SimFolder(World& world, WorkerNode& node, std::string path,
                     const worker::SeatAnswers& answers,
                     worker::JobListener& listener)
    : node_(node),
      disk_(*world.machine(node.host()).disk),
      path_(std::move(path)),
      answers_(answers),
      listener_(listener) {}

std::string SimFolder::PathOf(const StoredFile& file) const {
  return absl::StrCat(path_, "/", worker::StoreFileName(file));
}

absl::StatusOr<std::vector<StoredFile>> SimFolder::Scan() {
  disk_.MakeFolder(path_);
  std::vector<StoredFile> found;
  for (const std::string& name : disk_.List(path_)) {
    const std::string path = absl::StrCat(path_, "/", name);
    const FileBytes bytes = disk_.Find(path);
    auto header = worker::DecodeStoreHeader(*bytes);
    if (header.ok() && worker::StoreFileName(header->file) == name) {
      found.push_back(std::move(header->file));
    } else {
      disk_.Remove(path);
    }
  }
  return found;
}

void SimFolder::Store(const StoredFile& file, std::vector<SharedBytes> contents,
                      Done<absl::Status> done) {
  std::vector<std::byte> bytes = worker::EncodeStoreHeader(file, contents);
  for (const SharedBytes& content : contents) {
    bytes.insert(bytes.end(), content.bytes().begin(), content.bytes().end());
    const size_t over = content.size() % kAlignment;
    if (over != 0) bytes.resize(bytes.size() + kAlignment - over);
  }
  WriteFile(PathOf(file),
            std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
            answers_.Wrap(std::move(done)));
}

void SimFolder::WriteFile(const std::string& path, FileBytes bytes,
                          WorkerDisk::Done done) {
  disk_.Write(path, bytes,
              [this, &process = node_.process(), path, bytes,
               alive = std::weak_ptr<char>(alive_),
               done = std::move(done)](absl::Status status) mutable {
                process.Post([this, path, bytes, alive, done = std::move(done),
                              status = std::move(status)]() mutable {
                  if (absl::IsNotFound(status) && !alive.expired()) {
                    disk_.MakeFolder(path_);
                    listener_.OnFolderGone();
                    return WriteFile(path, std::move(bytes), std::move(done));
                  }
                  std::move(done)(std::move(status));
                });
              });
}

absl::StatusOr<SharedBytes> SimFolder::Map(const StoredFile& file,
                                           uint32_t span) {
  const FileBytes bytes = disk_.Find(PathOf(file));
  if (bytes == nullptr) return absl::NotFoundError(PathOf(file));
  SKERRY_ASSIGN_OR_RETURN(const worker::StoreHeader header,
                          worker::DecodeStoreHeader(*bytes));
  for (size_t i = 0; i < header.file.pieces.size(); ++i) {
    if (header.file.pieces[i].span != span) continue;
    const worker::PieceExtent extent = header.extents[i];
    return SharedBytes{bytes,
                       std::span(*bytes).subspan(extent.offset, extent.size)};
  }
  return absl::NotFoundError(PathOf(file));
}

void SimFolder::Delete(const StoredFile& file) { disk_.Remove(PathOf(file)); }

SimCheckpoints::SimCheckpoints(World& world, WorkerNode& node,
                               const protocol::JobOrders& orders)
    : world_(world),
      node_(node),
      job_(orders.job),
      restored_(orders.restored.value_or(protocol::RestoredState())) {}

void SimCheckpoints::Later(runtime::Task task) {
  Process& process = node_.process();
  const auto took =
      absl::Microseconds(100 + world_.random.Below(kCheckpointUs));
  process.RunAt(process.Now() + took, [alive = std::weak_ptr<char>(alive_),
                                       task = std::move(task)]() mutable {
    if (!alive.expired()) std::move(task)();
  });
}

absl::Status SimCheckpoints::Usable() const {
  return world_.machine(node_.host()).disk->full
             ? absl::ResourceExhaustedError("the folder is out of reach")
             : absl::OkStatus();
}

void SimCheckpoints::ReadBase(
    const job::JobSpec& spec,
    absl::AnyInvocable<void(absl::StatusOr<worker::StartingBase>) &&> done) {
  Later([this, fragments = job::FragmentCount(spec),
         done = std::move(done)]() mutable {
    const absl::Status usable = Usable();
    if (!usable.ok()) return std::move(done)(usable);
    std::move(done)(world_.saved_states.Read(job_, fragments, restored_));
  });
}

// What is written stays, whether or not its writer lives to say so.
void SimCheckpoints::Save(worker::StateToSave state,
                          worker::StateSaver::Written done) {
  Later([this, state = std::move(state), done = std::move(done)]() mutable {
    protocol::CheckpointFact outcome;
    if (const absl::Status usable = Usable(); usable.ok()) {
      outcome = world_.saved_states.Save(state);
    } else {
      outcome.sequence = state.order.sequence;
      outcome.error = std::string(usable.message());
    }
    Later([outcome = std::move(outcome), done = std::move(done)]() mutable {
      std::move(done)(std::move(outcome));
    });
  });
}

void SimCheckpoints::CheckFolder(
    absl::AnyInvocable<void(absl::Status) &&> done) {
  Later(
      [this, done = std::move(done)]() mutable { std::move(done)(Usable()); });
}

void SimInner::Import(const worker::InnerSource&,
                      absl::AnyInvocable<void(absl::Status) &&> done) {
  loop_.Post(
      [alive = std::weak_ptr<char>(alive_), done = std::move(done)]() mutable {
        if (!alive.expired())
          std::move(done)(absl::NotFoundError("there is none"));
      });
}

SimPeers::SimPeers(World& world, WorkerNode& node, JobId job,
                   const worker::SeatAnswers& answers)
    : world_(world), node_(node), job_(job), answers_(answers) {}

void SimPeers::AgreeCut(const std::string& head,
                        const worker::CutRequest& request,
                        Done<absl::StatusOr<worker::CutReply>> done) {
  using Reply = absl::StatusOr<worker::CutReply>;
  auto waiting = std::make_shared<Done<Reply>>(std::move(done));
  const auto end = [this, waiting,
                    alive = std::weak_ptr<char>(alive_)](const Reply& reply) {
    if (alive.expired()) return;
    node_.process().Post([this, waiting, reply, alive] {
      if (alive.expired() || *waiting == nullptr) return;
      answers_.Wrap(std::exchange(*waiting, nullptr))(reply);
    });
  };
  v1::AgreeCutRequest message;
  worker::CutRequestToProto(job_, request, &message);
  const Endpoint to = EndpointOf(node_.directory().EndpointOf(head));
  const auto stream = world_.network.Connect(
      {node_.host(), [end](const absl::Status& why) { end(why); }},
      {to.host, nullptr});
  world_.Keep(stream);
  stream->Send(
      0, world_.setting.scale.Fixed(kMessageBytes),
      [&world = world_, message, to, end, stream,
       name = world_.NameOf(node_.host())] {
        const auto back = [end, stream,
                           bytes = world.setting.scale.Fixed(kMessageBytes)](
                              const Reply& reply) {
          stream->Send(1, bytes, [end, reply, stream] {
            stream->Close(0, absl::OkStatus());
            end(reply);
          });
        };
        WorkerNode* head = world.NodeAt(to);
        if (head == nullptr) {
          stream->Close(1, absl::UnavailableError("no head"));
          return;
        }
        head->process().Post([head, message, back, name] {
          const auto checked = worker::CutRequestFromProto(message);
          if (!checked.ok()) return back(checked.status());
          head->shell().OnAgreeCut(JobId(message.job()), *checked, name,
                                   [back](const Reply& reply) {
                                     if (!reply.ok())
                                       return back(reply.status());
                                     v1::AgreeCutReply out;
                                     worker::CutReplyToProto(*reply, &out);
                                     back(worker::CutReplyFromProto(out));
                                   });
        });
      });
}

}  // namespace skerry::sim
