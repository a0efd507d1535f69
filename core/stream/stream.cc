#include "core/stream/stream.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/util/allocation.h"
#include "core/util/allocation_size.h"

namespace zsetd {
namespace {

constexpr size_t kFirstRoom = 64;  // of a block, which grows

// A node of the map of groups: three pointers and a color, then the value.
constexpr size_t kGroupBytes = AllocationSize(32 + sizeof(ConsumerGroups::value_type));

ConsumerGroups CloneOf(const ConsumerGroups& groups) {
  ConsumerGroups copy;
  for (const auto& [name, group] : groups) copy.emplace(name, group.Clone());
  return copy;
}

// Appends the IDs of the entries that are not deleted.
void AppendIds(const StreamBlock& block, std::vector<StreamId>& ids) {
  StreamBlock::Reader at(block);
  for (at.SkipTo(kFirstStreamId); at.valid(); at.SkipTo(kFirstStreamId)) {
    ids.push_back(at.id());
    at.Next();
  }
}

}  // namespace

// The state of a stream, and the steps of its functions.
struct Stream::Body {
  Blocks blocks;
  size_t size = 0;
  StreamState state;
  ConsumerGroups groups;
  std::unique_ptr<Producers> producers;
  uint32_t revision = 0;
  uint64_t layout = 1;  // grows when an entry moves in its block, and when a block is removed
  StreamSnapshot* snapshot = nullptr;

  Body() = default;
  Body(const Body&) = delete;
  ~Body();

  size_t BlockFor(StreamId id) const;
  StreamBlock::Owned& Mutable(size_t index);
  StreamBlock::Owned& Last();
  void RemoveBlock(size_t index);
  void RemoveEntry(size_t index, const StreamBlock::Reader& at);
  bool IsFull(const StreamBlock& block, size_t entry_bytes, const StreamLimits& limits) const;
  bool MustTrim(const StreamTrim& trim, const StreamBlock& block) const;
  void TrimInside(const StreamTrim& trim, std::vector<StreamId>* removed);
};

Stream::Body::~Body() {
  if (snapshot == nullptr) return;
  for (StreamBlock::Owned& block : blocks) snapshot->BeforeRemoval(std::move(block));
  snapshot->Detach();
}

// The index of the first block whose last ID is at least `id`, or the number of blocks.
size_t Stream::Body::BlockFor(StreamId id) const {
  if (blocks.empty() || id > blocks.back()->last()) return blocks.size();
  if (id >= blocks.back()->first()) return blocks.size() - 1;
  if (id <= blocks.front()->last()) return 0;
  const auto at = std::partition_point(blocks.begin(), blocks.end(),
                                       [&](const auto& block) { return block->last() < id; });
  return static_cast<size_t>(at - blocks.begin());
}

// Returns a block for a change, and informs the snapshot first. This and Last() are the only access
// to a block that can be changed.
StreamBlock::Owned& Stream::Body::Mutable(size_t index) {
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeChange(*blocks[index]);
  return blocks[index];
}

// Like Mutable(), but returns the last block, to which entries are added.
StreamBlock::Owned& Stream::Body::Last() {
  StreamBlock::Owned& last = blocks.back();
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeChange(*last);
  return last;
}

void Stream::Body::RemoveBlock(size_t index) {
  ++layout;
  size -= blocks[index]->live();
  revision += static_cast<uint32_t>(blocks[index]->live());
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeRemoval(std::move(blocks[index]));
  blocks.Remove(index);
}

// Removes the block if this was its last entry. Otherwise compacts it when half is deleted.
void Stream::Body::RemoveEntry(size_t index, const StreamBlock::Reader& at) {
  if (blocks[index]->live() == 1) return RemoveBlock(index);
  StreamBlock::Owned& block = Mutable(index);
  block->MarkDeleted(at);
  --size;
  ++revision;
  constexpr size_t kLeastDeleted = 16;
  const size_t deleted = block->count() - block->live();
  if (deleted < kLeastDeleted || deleted < block->live()) return;
  block = StreamBlock::Compacted(*block);
  ++layout;
}

bool Stream::Body::IsFull(const StreamBlock& block, size_t entry_bytes,
                          const StreamLimits& limits) const {
  constexpr size_t kMostBytes = 1u << 30;
  if (limits.entries > 0 && block.count() >= limits.entries) return true;
  const size_t bytes = limits.bytes > 0 ? std::min(limits.bytes, kMostBytes) : kMostBytes;
  return sizeof(StreamBlock) + block.bytes() + entry_bytes > bytes;
}

Stream::Stream() : body_(std::make_unique<Body>()) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Stream Stream::Clone() const {
  Stream copy;
  for (const StreamBlock::Owned& block : body_->blocks) {
    copy.body_->blocks.Append(StreamBlock::Clone(*block));
  }
  copy.body_->size = body_->size;
  copy.body_->state = body_->state;
  copy.body_->layout = body_->layout;
  copy.body_->groups = CloneOf(body_->groups);
  if (producers() != nullptr) copy.body_->producers = std::make_unique<Producers>(*producers());
  return copy;
}

Stream Stream::CopyBlocks(const StreamRange& range) const {
  Stream copy;
  copy.body_->state = body_->state;
  const Blocks& blocks = body_->blocks;
  Blocks& copies = copy.body_->blocks;
  uint64_t certain = 0;  // entries of the range: all of the copied blocks except the first
  const auto take = [&](const StreamBlock& block) {
    if (!copies.empty()) certain += block.live();
    copy.body_->size += block.live();
    copies.Insert(range.backward ? 0 : copies.size(), StreamBlock::Clone(block));
    return certain < range.most;
  };
  if (range.backward) {
    size_t i = std::min(body_->BlockFor(range.last) + 1, blocks.size());
    while (i > 0 && blocks[i - 1]->last() >= range.first && take(*blocks[i - 1])) --i;
  } else {
    size_t i = body_->BlockFor(range.first);
    while (i < blocks.size() && blocks[i]->first() <= range.last && take(*blocks[i])) ++i;
  }
  return copy;
}

const Stream::Blocks& Stream::blocks() const { return body_->blocks; }
size_t Stream::size() const { return body_->size; }
size_t Stream::block_count() const { return body_->blocks.size(); }
uint32_t Stream::revision() const { return body_->revision; }
const StreamState& Stream::state() const { return body_->state; }

size_t Stream::BytesUsed() const {
  size_t bytes = AllocatedBytes(body_.get()) + body_->blocks.BytesUsed();
  for (const StreamBlock::Owned& block : body_->blocks) bytes += block->BytesUsed();
  for (const auto& group : body_->groups) bytes += kGroupBytes + AllocatedBytes(group.first);
  return bytes + GroupBytes();
}

size_t Stream::GroupBytes() const {
  size_t bytes = 0;
  for (const auto& group : body_->groups) bytes += group.second.BytesUsed();
  return producers() == nullptr ? bytes : bytes + producers()->BytesUsed();
}

std::optional<StreamId> Stream::FirstId() const {
  if (size() == 0) return std::nullopt;
  const StreamBlock& block = *body_->blocks.front();
  if (block.live() == block.count()) return block.first();
  const Cursor at(*this, kFirstStreamId, Cursor::kForward);
  return at.valid() ? std::optional(at.id()) : std::nullopt;
}

std::optional<StreamId> Stream::LastEntryId() const {
  if (size() == 0) return std::nullopt;
  const StreamBlock& block = *body_->blocks.back();
  if (block.live() == block.count()) return block.last();
  const Cursor at(*this, kLastStreamId, Cursor::kBackward);
  return at.valid() ? std::optional(at.id()) : std::nullopt;
}

bool Stream::IsCurrent(const StreamPlace& place) const { return place.layout == body_->layout; }

bool Stream::Contains(StreamId id) const {
  const size_t index = body_->BlockFor(id);
  if (index == body_->blocks.size()) return false;
  StreamBlock::Reader at(*body_->blocks[index]);
  at.SkipTo(id);
  return at.valid() && at.id() == id;
}

size_t Stream::CountInRange(StreamId first, StreamId last, uint64_t most) const {
  const Blocks& blocks = body_->blocks;
  size_t count = 0;
  for (size_t i = body_->BlockFor(first); i < blocks.size() && count < most; ++i) {
    const StreamBlock& block = *blocks[i];
    if (first <= block.first() && block.last() <= last) {
      count += block.live();
      continue;
    }
    StreamBlock::Reader at(block);
    for (at.SkipTo(first); at.valid() && at.id() <= last && count < most; at.SkipTo(first)) {
      ++count;
      at.Next();
    }
    if (block.last() > last) break;
  }
  return std::min<uint64_t>(count, most);
}

void Stream::Append(StreamId id, std::span<const std::string_view> fields,
                    const StreamLimits& limits, StreamBlock::Names names) {
  assert(id > last_id() && !fields.empty() && fields.size() % 2 == 0);
  Body& body = *body_;
  size_t entry_bytes = 0;
  for (const std::string_view text : fields) entry_bytes += text.size();
  if (body.blocks.empty() || body.IsFull(*body.blocks.back(), entry_bytes, limits)) {
    if (!body.blocks.empty()) StreamBlock::Shrink(body.Last());
    body.blocks.Append(StreamBlock::Make(id, kFirstRoom));
    names = StreamBlock::Names::kCompared;
  }
  StreamBlock::Append(body.Last(), id, fields, names);
  body.state.last_id = id;
  ++body.state.entries_added;
  ++body.size;
  ++body.revision;
}

bool Stream::Delete(StreamId id) {
  const size_t index = body_->BlockFor(id);
  if (index == body_->blocks.size()) return false;
  StreamBlock::Reader at(*body_->blocks[index]);
  at.SkipTo(id);
  if (!at.valid() || at.id() != id) return false;
  body_->RemoveEntry(index, at);
  body_->state.max_deleted_id = std::max(body_->state.max_deleted_id, id);
  return true;
}

bool Stream::Body::MustTrim(const StreamTrim& trim, const StreamBlock& block) const {
  return trim.by == StreamTrim::By::kLength ? size - block.live() >= trim.length
                                            : block.last() < trim.least_id;
}

size_t Stream::Trim(const StreamTrim& trim, std::vector<StreamId>* removed) {
  const size_t before = size();
  const auto count = [&] { return before - size(); };
  while (size() > 0 && !(trim.by == StreamTrim::By::kLength && size() <= trim.length)) {
    const StreamBlock& block = *body_->blocks.front();
    if (trim.most > 0 && count() + block.live() > trim.most) break;
    if (body_->MustTrim(trim, block)) {
      if (removed != nullptr) AppendIds(block, *removed);
      body_->RemoveBlock(0);
      continue;
    }
    if (!trim.approximate) body_->TrimInside(trim, removed);
    break;
  }
  return count();
}

// Removes entries of the first block. By ID, all may have to go, because last() may be deleted.
void Stream::Body::TrimInside(const StreamTrim& trim, std::vector<StreamId>* removed) {
  StreamBlock::Owned& block = Mutable(0);
  for (StreamBlock::Reader at(*block); at.valid(); at.Next()) {
    if (at.is_deleted()) continue;
    const bool enough =
        trim.by == StreamTrim::By::kLength ? size <= trim.length : at.id() >= trim.least_id;
    if (enough) break;
    if (removed != nullptr) removed->push_back(at.id());
    if (block->live() == 1) return RemoveBlock(0);
    block->MarkDeleted(at);
    --size;
    ++revision;
  }
}

void Stream::SetState(const StreamState& state) {
  if (state == body_->state) return;
  body_->state = state;
  ++body_->revision;
}

const ConsumerGroups& Stream::groups() const { return body_->groups; }

const ConsumerGroup* Stream::FindGroup(std::string_view name) const {
  const auto found = body_->groups.find(name);
  return found == body_->groups.end() ? nullptr : &found->second;
}

ConsumerGroup* Stream::ChangeGroup(std::string_view name) {
  return const_cast<ConsumerGroup*>(FindGroup(name));
}

void Stream::CountChanges(size_t changes) { body_->revision += static_cast<uint32_t>(changes); }

bool Stream::AddGroup(std::string_view name, ConsumerGroup group) {
  const bool is_new = body_->groups.try_emplace(std::string(name), std::move(group)).second;
  body_->revision += is_new;
  return is_new;
}

bool Stream::RemoveGroup(std::string_view name) {
  const auto found = body_->groups.find(name);
  if (found == body_->groups.end()) return false;
  body_->groups.erase(found);
  ++body_->revision;
  return true;
}

const Producers* Stream::producers() const { return body_->producers.get(); }

Producers& Stream::ChangeProducers(const StreamLimits& limits_if_new) {
  if (body_->producers == nullptr) {
    body_->producers = std::make_unique<Producers>();
    body_->producers->SetLimits(limits_if_new.producers);
  }
  return *body_->producers;
}

void Stream::SetProducers(const Producers& producers) {
  body_->producers = std::make_unique<Producers>(producers);
}

std::optional<uint64_t> Stream::CountUpTo(StreamId id) const {
  const StreamState& state = body_->state;
  if (state.entries_added == 0) return 0;
  if (size() == 0 && id <= state.last_id) return state.entries_added;
  const StreamId first = FirstId().value_or(kFirstStreamId);
  const bool has_gaps = state.max_deleted_id != kFirstStreamId && state.max_deleted_id >= first;
  if (!has_gaps && id < first) return state.entries_added - size();
  if (id != kFirstStreamId && id < state.max_deleted_id) return std::nullopt;
  if (id == state.last_id) return state.entries_added;
  if (id > state.last_id || has_gaps) return std::nullopt;
  return id == first ? std::optional(state.entries_added - size() + 1) : std::nullopt;
}

bool Stream::MayLackEntriesAbove(StreamId id) const {
  const StreamId deleted = body_->state.max_deleted_id;
  if (size() == 0 || deleted == kFirstStreamId || id > deleted) return false;
  return *FirstId() <= deleted;  // else the deleted entries precede all others
}

std::unique_ptr<StreamSnapshot> Stream::StartSnapshot() const {
  StreamTail tail = {.length = size(),
                     .first_id = FirstId().value_or(kFirstStreamId),
                     .state = body_->state,
                     .groups = CloneOf(body_->groups)};
  if (producers() != nullptr) tail.producers = std::make_unique<Producers>(*producers());
  return std::make_unique<StreamSnapshot>(body_->blocks, std::move(tail), body_->snapshot);
}

void Stream::Check() const {
  [[maybe_unused]] size_t live = 0;
  [[maybe_unused]] StreamId last;
  for (const StreamBlock::Owned& block : body_->blocks) {
    size_t live_here = 0, all_here = 0;
    for (StreamBlock::Reader at(*block); at.valid(); at.Next()) {
      assert(live + all_here == 0 || at.id() > last);
      last = at.id();
      ++all_here;
      live_here += !at.is_deleted();
    }
    assert(live_here > 0 && live_here == block->live() && all_here == block->count());
    assert(last == block->last());
    live += live_here;
  }
  assert(live == size() && last <= last_id());
}

Stream::Cursor::Cursor(const Stream& stream, StreamId from, Direction direction)
    : blocks_(&stream.blocks()),
      direction_(direction),
      layout_(stream.body_->layout),
      block_(stream.body_->BlockFor(from)) {
  if (direction_ == kForward) {
    EnterForward(from);
  } else if (!blocks_->empty()) {
    block_ = std::min(block_, blocks_->size() - 1);
    EnterBackward(from);
  }
}

Stream::Cursor::Cursor(const Stream& stream, StreamId after, const StreamPlace& place)
    : blocks_(&stream.blocks()),
      direction_(kForward),
      layout_(stream.body_->layout),
      block_(stream.body_->BlockFor(after)) {
  if (!valid()) return;
  if (stream.IsCurrent(place)) {
    reader_ = StreamBlock::Reader(*(*blocks_)[block_], place.offset, after);
    Next();
  } else if (const std::optional<StreamId> from = after.Next()) {
    EnterForward(*from);
  } else {
    block_ = blocks_->size();
  }
}

size_t Stream::Cursor::CountLeft(uint64_t most) const {
  assert(direction_ == kForward);
  if (!valid()) return 0;
  size_t count = 0;
  StreamBlock::Reader at = reader_;
  for (; at.valid() && count < most; at.Next()) count += !at.is_deleted();
  for (size_t i = block_ + 1; i < blocks_->size() && count < most; ++i) {
    count += (*blocks_)[i]->live();
  }
  return std::min<uint64_t>(count, most);
}

// Finds the first entry from this block on. A block may lack entries from that ID on.
void Stream::Cursor::EnterForward(StreamId from) {
  for (; valid(); ++block_) {
    reader_ = StreamBlock::Reader(*(*blocks_)[block_]);
    reader_.SkipTo(from);
    if (reader_.valid()) return;
  }
}

// Collects the entries of this block, or of the previous one, up to that ID.
void Stream::Cursor::EnterBackward(StreamId from) {
  for (; valid(); --block_) {  // wraps past the first
    readers_.clear();
    StreamBlock::Reader at(*(*blocks_)[block_]);
    for (at.SkipTo(kFirstStreamId); at.valid() && at.id() <= from; at.SkipTo(kFirstStreamId)) {
      readers_.push_back(at);
      at.Next();
    }
    if (!readers_.empty()) return;
  }
}

void Stream::Cursor::Next() {
  assert(valid());
  if (direction_ == kForward) {
    reader_.Next();
    reader_.SkipTo(kFirstStreamId);
    if (reader_.valid()) return;
    ++block_;
    return EnterForward(kFirstStreamId);
  }
  readers_.pop_back();
  if (!readers_.empty()) return;
  --block_;
  EnterBackward(kLastStreamId);
}

}  // namespace zsetd
