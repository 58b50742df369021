#include "worker/daemon/data_cache.h"

#include <utility>

#include "worker/daemon/data_files.h"

namespace skerry::worker {

class DataCache::Held final : public Use {
 public:
  Held(DataFetches& fetches, std::shared_ptr<DataRequest> request,
       runtime::Executor& fetcher)
      : fetches_(fetches), request_(std::move(request)), fetcher_(fetcher) {}
  ~Held() override {
    request_->dropped = true;
    request_->source->Drop();
    fetcher_.Run([&fetches = fetches_, request = request_] {
      fetches.Release(request);
    });
  }

 private:
  DataFetches& fetches_;
  const std::shared_ptr<DataRequest> request_;
  runtime::Executor& fetcher_;
};

DataCache::DataCache(const DataCacheOptions& options)
    : options_(options),
      fetches_(std::make_unique<DataFetches>(options)),
      counted_at_(options.loop.Now()) {}

DataCache::~DataCache() = default;

void DataCache::Start() {
  options_.fetcher.Run([this] { fetches_->Look(); });
}

std::unique_ptr<DataCache::Use> DataCache::Take(
    std::shared_ptr<DataSource> source, const std::string& manifest_sha256,
    Done done) {
  auto request = std::make_shared<DataRequest>();
  request->source = std::move(source);
  request->set = manifest_sha256;
  request->done = std::move(done);
  options_.fetcher.Run([this, request] { fetches_->Begin(request); });
  return std::make_unique<Held>(*fetches_, request, options_.fetcher);
}

std::string DataCache::FolderOf(const std::string& manifest_sha256) const {
  return fetches_->FolderOf(manifest_sha256);
}

bool DataCache::SeemsWhole(const std::string& manifest_sha256) const {
  return FindDataSet(FolderOf(manifest_sha256), manifest_sha256, options_.files)
      .ok();
}

absl::Duration DataCache::Waited() const {
  return waited_ + waiting_ * (options_.loop.Now() - counted_at_);
}

void DataCache::OnWaitBegins() {
  waited_ = Waited();
  counted_at_ = options_.loop.Now();
  ++waiting_;
}

void DataCache::OnWaitEnds() {
  waited_ = Waited();
  counted_at_ = options_.loop.Now();
  --waiting_;
}

void DataCache::AddMetrics(std::vector<runtime::Metric>& metrics) const {
  using Kind = runtime::Metric::Kind;
  const auto add = [&](const char* name, const char* help, Kind kind,
                       double value) {
    metrics.push_back({name, help, kind, {{{}, value}}});
  };
  add("skerry_worker_data_wait_seconds_total",
      "Seconds for which jobs waited for data sets that were not here.",
      Kind::kCounter, absl::ToDoubleSeconds(Waited()));
  add("skerry_worker_data_fetched_bytes_total",
      "Bytes of data sets that came from object stores and other workers.",
      Kind::kCounter, static_cast<double>(fetches_->fetched_bytes()));
  add("skerry_worker_data_removed_bytes_total",
      "Bytes of data sets that were removed from the cache to make room.",
      Kind::kCounter, static_cast<double>(fetches_->removed_bytes()));
  add("skerry_worker_data_cache_bytes",
      "Bytes of the data sets in the cache, with what is on its way.",
      Kind::kGauge, static_cast<double>(fetches_->bytes()));
}

}  // namespace skerry::worker
