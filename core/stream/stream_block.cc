#include "core/stream/stream_block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <vector>

#include "core/util/allocation.h"
#include "core/util/allocation_size.h"
#include "core/util/varint.h"

namespace zsetd {
namespace {

// The parts of an entry's head.
constexpr uint8_t kDeleted = 1;
constexpr uint8_t kHasSequence = 2;
constexpr uint8_t kNamesShift = 2;
constexpr uint8_t kFirstNames = 0;
constexpr uint8_t kNamesAtOffset = 1;
constexpr uint8_t kNewNames = 2;
constexpr int kMsShift = 4;
constexpr uint8_t kLongMs = 15;

constexpr size_t kMostVarintBytes = 10;
constexpr size_t kMostNamesToCompare = 8;  // lists of names that an entry is compared with
constexpr size_t kLeastBlockRoom = 48;

// Most are below 128.
inline size_t TakeVarint(const char*& at) {
  const auto first = static_cast<uint8_t>(*at);
  if (first < 0x80) [[likely]] {
    ++at;
    return first;
  }
  const Varint varint = ReadVarintForward(at);
  at += varint.bytes;
  return varint.length;
}

}  // namespace

static_assert(sizeof(StreamBlock) == 56);

void StreamBlock::Delete::operator()(const StreamBlock* block) const {
  ::operator delete(const_cast<StreamBlock*>(block));
}

StreamBlock::Owned StreamBlock::Make(StreamId first, size_t room) {
  const size_t bytes = AllocationSize(sizeof(StreamBlock) + std::max(room, kLeastBlockRoom));
  return Owned(::new (::operator new(bytes)) StreamBlock(first, bytes - sizeof(StreamBlock)));
}

StreamBlock::Owned StreamBlock::Reallocated(const StreamBlock& block, size_t room) {
  assert(room >= block.size_);
  Owned copy = Make(block.first_, room);
  const uint32_t copy_room = copy->room_;
  *copy = block;
  copy->room_ = copy_room;
  std::memcpy(copy->data(), block.data(), block.size_);
  return copy;
}

StreamBlock::Owned StreamBlock::Clone(const StreamBlock& block) {
  Owned copy = Reallocated(block, block.size_);
  copy->number_ = kNoNumber;
  return copy;
}

void StreamBlock::Shrink(Owned& block) {
  const size_t used = AllocationSize(sizeof(StreamBlock) + std::max<size_t>(block->size_, 1));
  if (used < sizeof(StreamBlock) + block->room_) block = Reallocated(*block, block->size_);
}

size_t StreamBlock::BytesUsed() const { return AllocatedBytes(this); }

size_t StreamBlock::MostEntryBytes(std::span<const std::string_view> fields, Names names) {
  const size_t step = names == Names::kOfFirst ? 2 : 1;
  size_t bytes = 1 + 4 * kMostVarintBytes;
  for (size_t i = step - 1; i < fields.size(); i += step) {
    bytes += MostPackedTextBytes(fields[i].size());
  }
  return bytes;
}

void StreamBlock::Append(Owned& block, StreamId id, std::span<const std::string_view> fields,
                         Names kind) {
  assert(block->count_ == 0 ? id == block->first_ : id > block->last_);
  assert(kind == Names::kCompared || block->count_ > 0);
  const size_t needed = block->size_ + MostEntryBytes(fields, kind);
  if (needed > block->room_) {
    block = Reallocated(*block, std::max<size_t>(needed, size_t{block->size_} * 3 / 2));
  }
  char* const data = block->data();
  const bool is_first = block->count_ == 0;
  const uint32_t names = kind == Names::kOfFirst ? 1 : is_first ? 0 : block->FindNames(fields);
  const uint8_t form = names == 0 ? kNewNames : names == 1 ? kFirstNames : kNamesAtOffset;
  char* at = block->WriteIdAndHead(data + block->size_, id, form);
  if (form == kNewNames) at = block->WriteNames(at, fields);
  if (form == kNamesAtOffset) at = WriteVarintForward(at, names);
  for (size_t i = 1; i < fields.size(); i += 2) at = WritePackedText(at, fields[i]);
  block->size_ = static_cast<uint32_t>(at - data);
  block->last_ = id;
  ++block->count_;
}

char* StreamBlock::WriteIdAndHead(char* at, StreamId id, uint8_t names) const {
  const uint64_t ms = id.ms - last_.ms;
  const bool is_first = count_ == 0;
  const uint64_t implied = is_first ? id.seq : ms == 0 ? last_.seq + 1 : 0;
  const bool has_sequence = id.seq != implied;
  *at++ = static_cast<char>(std::min<uint64_t>(ms, kLongMs) << kMsShift | names << kNamesShift |
                            (has_sequence ? kHasSequence : 0));
  if (ms >= kLongMs) at = WriteVarintForward(at, ms);
  if (has_sequence) at = WriteVarintForward(at, id.seq);
  return at;
}

char* StreamBlock::WriteNames(char* at, std::span<const std::string_view> fields) {
  const auto offset = static_cast<uint32_t>(at - data());
  at = WriteVarintForward(at, newest_names_ == 0 ? 0 : offset - newest_names_);
  at = WriteVarintForward(at, fields.size() / 2);
  for (size_t i = 0; i < fields.size(); i += 2) at = WritePackedText(at, fields[i]);
  newest_names_ = offset;
  return at;
}

// The offset of names that equal those of `fields`; 1 for those of the first entry, 0 for none.
// The first names are at an offset above 0, because a head precedes them.
uint32_t StreamBlock::FindNames(std::span<const std::string_view> fields) const {
  if (NamesEqual(1, fields)) return 1;
  uint32_t offset = newest_names_;
  for (size_t i = 0; i < kMostNamesToCompare && offset > 1; ++i) {
    if (NamesEqual(offset, fields)) return offset;
    const size_t distance = ReadVarintForward(data() + offset).length;
    if (distance == 0) break;
    offset -= static_cast<uint32_t>(distance);
  }
  return 0;
}

bool StreamBlock::NamesEqual(uint32_t offset, std::span<const std::string_view> fields) const {
  const char* at = data() + offset;
  TakeVarint(at);  // the distance
  if (TakeVarint(at) != fields.size() / 2) return false;
  for (size_t i = 0; i < fields.size(); i += 2) {
    if (!TakePackedText(at, fields[i])) return false;
  }
  return true;
}

void StreamBlock::MarkDeleted(const Reader& at) {
  assert(!at.is_deleted());
  char& head = data()[at.at_ - data()];
  head = static_cast<char>(static_cast<uint8_t>(head) | kDeleted);
  ++deleted_;
}

StreamBlock::Owned StreamBlock::Compacted(const StreamBlock& block) {
  assert(block.live() > 0);
  Owned compacted;
  std::vector<std::string> texts;
  std::vector<std::string_view> fields;
  const char* first_names = nullptr;
  for (Reader at(block); at.valid(); at.Next()) {
    if (at.is_deleted()) continue;
    // Names are stored once, however many entries have them, so they are not copied for each.
    const bool has_first_names = at.entry().names == first_names;
    texts.clear();
    at.entry().ForEachField([&](std::string_view name, std::string_view value) {
      texts.emplace_back(has_first_names ? std::string_view() : name);
      texts.emplace_back(value);
    });
    fields.assign(texts.begin(), texts.end());
    if (compacted == nullptr) {
      compacted = Make(at.id(), block.size_);
      first_names = at.entry().names;
    }
    Append(compacted, at.id(), fields, has_first_names ? Names::kOfFirst : Names::kCompared);
  }
  Shrink(compacted);
  return compacted;
}

// FNV-1a over the entries and the counts.
uint64_t StreamBlock::Checksum() const {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size_; ++i) {
    hash = (hash ^ static_cast<uint8_t>(data()[i])) * 1099511628211u;
  }
  return hash ^ count_ ^ uint64_t { deleted_ } << 32;
}

StreamBlock::Reader::Reader(const StreamBlock& block)
    : begin_(block.data()), end_(begin_ + block.size_), at_(begin_) {
  ReadFirstNames();
  // The first entry has the first ID: its time differs by 0, and its number follows that before.
  if (valid()) Parse({block.first_.ms, block.first_.seq - 1});
}

StreamBlock::Reader::Reader(const StreamBlock& block, uint32_t offset, StreamId id)
    : begin_(block.data()), end_(begin_ + block.size_), at_(begin_ + offset) {
  assert(offset < block.size_);
  ReadFirstNames();
  Parse({});
  entry_.id = id;
}

// They follow the head of the first entry, which has neither a time nor a sequence number.
void StreamBlock::Reader::ReadFirstNames() {
  if (begin_ == end_) return;
  const char* at = begin_ + 1;
  TakeVarint(at);  // the distance
  first_count_ = TakeVarint(at);
  first_names_ = at;
}

bool StreamBlock::Reader::is_deleted() const { return static_cast<uint8_t>(*at_) & kDeleted; }

void StreamBlock::Reader::Next() {
  assert(valid());
  const char* at = entry_.values;
  for (size_t i = 0; i < entry_.field_count; ++i) at = SkipPackedText(at);
  at_ = at;
  if (valid()) Parse(entry_.id);
}

void StreamBlock::Reader::SkipTo(StreamId id) {
  while (valid() && (is_deleted() || entry_.id < id)) Next();
}

void StreamBlock::Reader::Parse(StreamId previous) {
  const char* at = at_;
  const auto head = static_cast<uint8_t>(*at++);
  uint64_t ms = head >> kMsShift;
  if (ms == kLongMs) ms = TakeVarint(at);
  entry_.id = {previous.ms + ms, ms == 0 ? previous.seq + 1 : 0};
  if (head & kHasSequence) entry_.id.seq = TakeVarint(at);

  const uint8_t form = head >> kNamesShift & 3;
  if (form == kFirstNames) [[likely]] {
    entry_.names = first_names_;
    entry_.field_count = first_count_;
    entry_.values = at;
    return;
  }
  const char* names = at;
  if (form == kNamesAtOffset) names = begin_ + TakeVarint(at);
  TakeVarint(names);  // the distance
  entry_.field_count = TakeVarint(names);
  entry_.names = names;
  if (form == kNewNames) {
    at = names;
    for (size_t i = 0; i < entry_.field_count; ++i) at = SkipPackedText(at);
  }
  entry_.values = at;
}

}  // namespace zsetd
