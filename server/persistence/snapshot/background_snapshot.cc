#include "server/persistence/snapshot/background_snapshot.h"

#include <algorithm>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 512u << 10;  // handed to the thread together

// The lengths of a slice of encoding; new requests wait for its end. Without requests a slice is
// kIdleSlice long. Under load it takes a quarter of the time of the requests since the last slice,
// so that a half-busy server keeps up with the requests.
constexpr Micros kIdleSlice{100};
constexpr Micros kShortestSlice{50};
constexpr Micros kLongestSlice{1000};  // reached if the requests are slow
constexpr int kShareOfRequests = 4;

}  // namespace

BackgroundSnapshot::BackgroundSnapshot(std::unique_ptr<SnapshotSink> sink, const Engine& engine,
                                       const SnapshotContents& contents,
                                       std::function<void()> on_progress)
    : engine_(engine),
      encoder_(engine.settings(), engine.store().access_tracker()),
      snapshot_(contents.with_keys ? DatasetSnapshot::Databases(engine.store().databases())
                                   : DatasetSnapshot::Databases(),
                encoder_),
      thread_(std::make_shared<SnapshotThread>(std::move(sink), std::move(on_progress))),
      requests_before_(engine.metrics().stats().commands_processed),
      last_turn_(engine.host().stopwatch()),
      started_at_(engine.host().stopwatch()),
      changes_(engine.store().change_count()) {
  encoder_.Begin(engine.store().now(), engine.store().gauge().Used(), contents, snapshot_);
}

// Joins the thread in the background, because no request must wait for it: it has a low priority,
// so that it may wait for a core for long, and its last write may wait for the disk. Waits only for
// a file whose completion has begun: a later file may get the same name.
BackgroundSnapshot::~BackgroundSnapshot() {
  const auto& free_in_background = engine_.host().free_in_background;
  if (thread_->Abandon() && free_in_background) free_in_background(std::move(thread_));
}

bool BackgroundSnapshot::HasWork() const { return !encoded_ && thread_->HasRoom(); }

void BackgroundSnapshot::Continue() {
  const Micros start = engine_.host().stopwatch();
  const uint64_t requests = engine_.metrics().stats().commands_processed;
  const bool is_busy = std::exchange(requests_before_, requests) != requests;
  if (is_busy) time_of_requests_ += start - last_turn_;
  last_turn_ = start;
  const Micros share = time_of_requests_ / kShareOfRequests;
  if (is_busy && share < kShortestSlice) return;
  time_of_requests_ = Micros(0);
  const Micros until = start + (is_busy ? std::min(share, kLongestSlice) : kIdleSlice);
  encoded_ = snapshot_.Continue(
      [&] { return encoder_.size() >= kPieceBytes || engine_.host().stopwatch() >= until; });
  if (encoded_) encoder_.End();
  if (encoded_ || encoder_.size() >= kPieceBytes) thread_->Write(encoder_.Take());
  if (encoded_) thread_->Finish();
  last_turn_ = engine_.host().stopwatch();
}

absl::Status WriteSnapshot(const Engine& engine, const SnapshotContents& contents,
                           SnapshotSink& sink) {
  SnapshotEncoder encoder(engine.settings(), engine.store().access_tracker());
  DatasetSnapshot snapshot(engine.store().databases(), encoder);
  encoder.Begin(engine.store().now(), engine.store().gauge().Used(), contents, snapshot);
  absl::Status status = absl::OkStatus();
  bool all = false;
  while (status.ok() && !all) {
    all = snapshot.Continue([&] { return encoder.size() >= kPieceBytes; });
    if (all) encoder.End();
    status = WritePieces(encoder.Take(), sink);
  }
  return status.ok() ? sink.Finish() : status;
}

}  // namespace zsetd
