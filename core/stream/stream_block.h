#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/stream/packed_text.h"
#include "core/stream/stream_id.h"

namespace zsetd {

// An entry of a stream, in its block. Valid until the next change of the stream.
struct StreamEntry {
  StreamId id;
  size_t field_count = 0;
  const char* names = nullptr;
  const char* values = nullptr;

  // Calls visit(name, value) for each field. The views are valid during that call. O(fields).
  template <class Visit>
  void ForEachField(Visit visit) const {
    const char* name_at = names;
    const char* value_at = values;
    PackedTextDigits name_digits, value_digits;
    for (size_t i = 0; i < field_count; ++i) {
      const std::string_view name = ReadPackedText(name_at, name_digits);
      visit(name, ReadPackedText(value_at, value_digits));
    }
  }
};

// Entries of a stream in ascending order of IDs, in one allocation:
//
//   [ header | head ms? seq? names? value value ... | head value value ... | ... | room ]
//
//   head    1 byte: deleted: 1 bit, has a sequence number: 1 bit, names: 2 bits, ms: 4 bits
//   ms      the difference to the previous entry's time; 15 in the head: a varint follows
//   seq     a varint. Without it, an entry with the time of the previous one has the next sequence
//           number, and an entry with a later time has number 0
//   names   those of the first entry, those at an offset (a varint), or new ones, which follow:
//           [ distance to the new names before these, or 0 | count | name name ... ]
//
// An entry of two small numbers takes 3 to 5 bytes; an entry of three values of 8 bytes takes 28.
// Entries are appended without packing the block again, so the last block of a stream needs no
// other form. A deleted entry keeps its bytes until the block is compacted.
//
// Invariants: IDs ascend strictly; the first entry has the base ID; `last` is the ID of the last
// entry, deleted or not.
class StreamBlock {
 public:
  struct Delete {
    void operator()(const StreamBlock* block) const;
  };
  using Owned = std::unique_ptr<StreamBlock, Delete>;
  class Reader;

  static constexpr uint32_t kNoNumber = UINT32_MAX;

  // How the names of a new entry are stored.
  enum class Names {
    kCompared,  // with those of former entries; new ones are written
    kOfFirst,   // equal to those of the first entry, without a comparison
  };

  // An empty block whose first entry will have this ID.
  static Owned Make(StreamId first, size_t room);
  static Owned Clone(const StreamBlock& block);

  // Appends an entry with an ID above last(); reallocates the block if it lacks room. `fields` are
  // names and values in turn. With kOfFirst the block has entries, and the names in `fields` are
  // not read. O(bytes of the entry that are read), amortised.
  static void Append(Owned& block, StreamId id, std::span<const std::string_view> fields,
                     Names names = Names::kCompared);

  // The most bytes that such an entry takes.
  static size_t MostEntryBytes(std::span<const std::string_view> fields,
                               Names names = Names::kCompared);

  // Reallocates the block without room if that saves memory. O(bytes).
  static void Shrink(Owned& block);

  // Returns a block of the entries that are not deleted. Precondition: there are some. O(bytes).
  static Owned Compacted(const StreamBlock& block);

  StreamId first() const { return first_; }
  StreamId last() const { return last_; }
  size_t live() const { return count_ - deleted_; }
  size_t count() const { return count_; }
  size_t bytes() const { return size_; }  // of the entries
  size_t BytesUsed() const;

  // Marks the entry at the reader as deleted. Precondition: it is not deleted.
  void MarkDeleted(const Reader& at);

  // The number in the stream's snapshot.
  uint32_t number() const { return number_; }
  void set_number(uint32_t number) { number_ = number; }

  uint64_t Checksum() const;

 private:
  StreamBlock(StreamId first, size_t room)
      : first_(first), last_(first), room_(static_cast<uint32_t>(room)) {}

  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  char* data() { return reinterpret_cast<char*>(this + 1); }

  static Owned Reallocated(const StreamBlock& block, size_t room);
  char* WriteIdAndHead(char* at, StreamId id, uint8_t names) const;
  char* WriteNames(char* at, std::span<const std::string_view> fields);
  uint32_t FindNames(std::span<const std::string_view> fields) const;
  bool NamesEqual(uint32_t offset, std::span<const std::string_view> fields) const;

  StreamId first_;
  StreamId last_;
  uint32_t size_ = 0;
  uint32_t room_;
  uint32_t count_ = 0;
  uint32_t deleted_ = 0;
  uint32_t newest_names_ = 0;  // offset of the last new names; 0: none
  uint32_t number_ = kNoNumber;
};

// A place in a block, from the first entry forward, including deleted entries. Valid until the
// block changes, except by MarkDeleted().
class StreamBlock::Reader {
 public:
  Reader() = default;  // not valid
  explicit Reader(const StreamBlock& block);

  // Starts at the entry with this offset() and this ID. An offset stays the same until the block is
  // compacted. O(1).
  Reader(const StreamBlock& block, uint32_t offset, StreamId id);

  bool valid() const { return at_ != end_; }
  uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }
  bool is_deleted() const;
  const StreamEntry& entry() const { return entry_; }  // only while valid
  StreamId id() const { return entry_.id; }

  // Moves to the next entry. O(fields).
  void Next();

  // Moves to the next entry that is not deleted, from this one on, with at least this ID.
  void SkipTo(StreamId id);

 private:
  friend class StreamBlock;
  void ReadFirstNames();
  void Parse(StreamId previous);

  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  const char* at_ = nullptr;
  StreamEntry entry_;
  const char* first_names_ = nullptr;  // the names of the first entry, and their number
  size_t first_count_ = 0;
};

}  // namespace zsetd
