#include "server/replication/snapshot_pipe.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 64u << 10;

}  // namespace

void SnapshotPipe::Write(std::string_view bytes) {
  bool announces = false;
  {
    const std::lock_guard lock(mutex_);
    assert(!ended_);
    end_ += bytes.size();
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPieceBytes))) {
      pieces_.emplace_back(bytes.substr(0, kPieceBytes));
    }
    DropRead();
    announces = !std::exchange(is_announced_, true);
  }
  if (announces) Announce();
}

void SnapshotPipe::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    is_announced_ = true;
  }
  Announce();
}

void SnapshotPipe::Announce() {
  const std::lock_guard lock(announcing_);
  if (on_progress_) on_progress_();
}

void SnapshotPipe::Silence() {
  const std::lock_guard lock(announcing_);
  on_progress_ = nullptr;
}

size_t SnapshotPipe::AddReader() {
  const std::lock_guard lock(mutex_);
  assert(end_ == 0);
  readers_.push_back(0);
  return readers_.size() - 1;
}

void SnapshotPipe::RemoveReader(size_t reader) {
  const std::lock_guard lock(mutex_);
  assert(readers_[reader] != kGone);
  readers_[reader] = kGone;
  DropRead();
}

// Readers take whole pieces, so a reader is always at the beginning of a piece or at the end.
void SnapshotPipe::Read(size_t reader, OutputBuffer& out) {
  const std::lock_guard lock(mutex_);
  is_announced_ = false;
  uint64_t& position = readers_[reader];
  if (position == end_) return;
  uint64_t at = first_;
  auto piece = pieces_.begin();
  for (; at < position; ++piece) at += piece->size();
  assert(at == position);
  out.Append(*piece);
  position += piece->size();
  DropRead();
}

bool SnapshotPipe::IsAtEnd(size_t reader) const {
  const std::lock_guard lock(mutex_);
  return ended_ && readers_[reader] == end_;
}

uint64_t SnapshotPipe::Slowest() const {
  const uint64_t slowest = readers_.empty() ? kGone : *std::ranges::min_element(readers_);
  return std::min(slowest, end_);
}

void SnapshotPipe::DropRead() {
  const uint64_t slowest = Slowest();
  while (!pieces_.empty() && first_ + pieces_.front().size() <= slowest) {
    first_ += pieces_.front().size();
    pieces_.pop_front();
  }
}

size_t SnapshotPipe::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(end_ - Slowest());
}

bool SnapshotPipe::has_readers() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(readers_, [](uint64_t position) { return position != kGone; });
}

absl::Status PipeSink::Put(std::string_view bytes) {
  pipe_->Write(bytes);
  return absl::OkStatus();
}

absl::Status PipeSink::Complete() {
  pipe_->End();
  return absl::OkStatus();
}

}  // namespace zsetd
