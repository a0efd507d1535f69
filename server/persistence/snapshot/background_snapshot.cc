#include "server/persistence/snapshot/background_snapshot.h"

#include <utility>

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 1u << 20;         // handed to the thread at a time
constexpr size_t kMostWaitingBytes = 32u << 20;  // for the disk; then encoding waits for it
constexpr Micros kLongestSlice{500};             // for which requests wait

}  // namespace

BackgroundSnapshot::BackgroundSnapshot(std::unique_ptr<SnapshotSink> sink, const Engine& engine,
                                       const SnapshotContents& contents)
    : engine_(engine),
      encoder_(engine.settings(), engine.store().access_tracker()),
      snapshot_(contents.with_keys ? Snapshot::Databases(engine.store().databases())
                                   : Snapshot::Databases(),
                encoder_),
      thread_(std::move(sink)),
      started_at_(engine.store().now()),
      changes_(engine.store().change_count()) {
  encoder_.Begin(engine.store().now(), engine.store().gauge().Used(), contents, snapshot_);
}

bool BackgroundSnapshot::HasWork() const {
  return !encoded_ && thread_.waiting() < kMostWaitingBytes;
}

void BackgroundSnapshot::Continue() {
  const Micros until = engine_.host().stopwatch() + kLongestSlice;
  encoded_ = snapshot_.Continue(
      [&] { return encoder_.size() >= kPieceBytes || engine_.host().stopwatch() >= until; });
  if (encoded_) encoder_.End();
  if (encoded_ || encoder_.size() >= kPieceBytes) thread_.Write(encoder_.Take());
  if (encoded_) thread_.Finish();
}

absl::Status WriteSnapshot(const Engine& engine, const SnapshotContents& contents,
                           SnapshotSink& sink) {
  SnapshotEncoder encoder(engine.settings(), engine.store().access_tracker());
  Snapshot snapshot(engine.store().databases(), encoder);
  encoder.Begin(engine.store().now(), engine.store().gauge().Used(), contents, snapshot);
  absl::Status status = absl::OkStatus();
  bool all = false;
  while (status.ok() && !all) {
    all = snapshot.Continue([&] { return encoder.size() >= kPieceBytes; });
    if (all) encoder.End();
    for (SnapshotPiece& piece : encoder.Take()) {
      if (status.ok()) status = sink.Write(std::move(piece).Encoded());
    }
  }
  return status.ok() ? sink.Finish() : status;
}

}  // namespace zsetd
