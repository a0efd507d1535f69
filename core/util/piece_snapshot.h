// The mechanism of a snapshot of a value that consists of pieces, such as the blocks of a sorted
// set or the chunks of a list: the pieces as they were at one instant, handed out one at a time
// while the value changes.
//
//   order        2   0   1   3                    numbers of the pieces, as of the instant
//   by number  [ live | copied | - | kept ]       -: handed out
//
//   live     in the value, unchanged since the instant; copied before its first change
//   copied   owned by the snapshot
//   kept     removed from the value, but alive and unchanged
//
// Starting a snapshot takes a word and a half for each piece and visits each once. A change waits
// for the copies of the pieces that it affects. Pieces that are created later are not part of the
// snapshot. The snapshot may outlive the value: before its pieces are freed, the value calls
// CopyAll(), which takes O(n), or TakeOver() for each live piece.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zsetd {

// `Kind` describes the pieces:
//
//   using Piece = ...;                       may be const
//   using Owned = ...;                       a unique_ptr to a piece, with a deleter without state
//   static Owned Clone(const Piece&);
//   static size_t BytesUsed(const Piece&);
//   static void Release(Piece&);             called once for each piece that ceases to be live
//   static uint64_t Checksum(const Piece&);  in debug builds
//
// Debug builds compare checksums, which detects a change without BeforeChange().
template <class Kind>
class PieceSnapshot {
 public:
  using Piece = typename Kind::Piece;
  using Owned = typename Kind::Owned;

  // A snapshot of `pieces` pieces, whose numbers are below `limit`. Add() adds them.
  PieceSnapshot(size_t pieces, size_t limit) : slots_(limit, kNone) {
    assert(pieces <= limit);
    order_.reserve(pieces);
  }
  PieceSnapshot(const PieceSnapshot&) = delete;
  ~PieceSnapshot() {
    while (!done()) Step([](const Piece&) {});
  }

  // Adds a live piece, whose number is not in use. Pieces are handed out in the order of the calls.
  // A live piece keeps its address.
  void Add(uint32_t number, Piece& piece) {
    assert(next_ == 0 && slots_[number] == kNone);
    order_.push_back(number);
    slots_[number] = SlotOf(piece, kLive);
#ifndef NDEBUG
    if (checksums_.empty()) checksums_.resize(slots_.size());
    checksums_[number] = Kind::Checksum(piece);
#endif
  }

  size_t piece_count() const { return order_.size(); }  // at the instant
  bool done() const { return next_ == order_.size(); }

  // The bytes of the copies that are not handed out yet.
  size_t copied_bytes() const { return copied_bytes_; }

  // Calls visit(const Piece&) for the next piece. Precondition: !done().
  template <class Visit>
  void Step(Visit visit) {
    const Taken taken = TakeNext();
    visit(std::as_const(*taken.piece));
    if (taken.state == kLive) Kind::Release(*taken.piece);
    if (taken.state == kCopied) OwnedOf(taken.piece).reset();
  }

  // Returns the next piece: the copy, or a clone. Precondition: !done(). O(bytes of the piece).
  Owned Take() {
    const Taken taken = TakeNext();
    if (taken.state == kCopied) return OwnedOf(taken.piece);
    Owned clone = Kind::Clone(*taken.piece);
    if (taken.state == kLive) Kind::Release(*taken.piece);
    return clone;
  }

  // --- For the value. ---

  bool IsLive(uint32_t number) const {
    return number < slots_.size() && StateOf(slots_[number]) == kLive;
  }

  // Must be called before the piece with this number is changed, moved or destroyed. Copies a live
  // piece: O(bytes) the first time.
  void BeforeChange(uint32_t number) {
    if (IsLive(number)) Copy(number);
  }

  // Replaces the live piece by `contents`, which were moved out of it. O(1).
  void TakeOver(uint32_t number, Owned contents) {
    assert(IsLive(number));
    CheckUnchanged(number, *contents);
    Store(number, std::move(contents));
  }

  // Records that the piece, if it is live, was removed from the value, and that the caller keeps it
  // alive and unchanged until the snapshot ends. O(1).
  void Keep(uint32_t number) {
    if (!IsLive(number)) return;
    Piece& piece = *PieceOf(slots_[number]);
    slots_[number] = SlotOf(piece, kKept);
    Kind::Release(piece);
  }

  // Copies all live pieces. O(bytes).
  void CopyAll() {
    for (size_t i = next_; i < order_.size(); ++i) BeforeChange(order_[i]);
  }

 private:
  using Held = typename Owned::element_type;

  // A slot is the address of a piece with its state in the lowest two bits, or kNone.
  static constexpr uintptr_t kNone = 0;  // not part of the snapshot, or handed out
  static constexpr uintptr_t kLive = 1;
  static constexpr uintptr_t kKept = 2;
  static constexpr uintptr_t kCopied = 3;
  static_assert(alignof(Held) > kCopied);

  struct Taken {
    Piece* piece;
    uintptr_t state;
  };

  static uintptr_t SlotOf(Piece& piece, uintptr_t state) {
    return reinterpret_cast<uintptr_t>(&piece) | state;
  }
  static uintptr_t StateOf(uintptr_t slot) { return slot & kCopied; }
  static Piece* PieceOf(uintptr_t slot) { return reinterpret_cast<Piece*>(slot & ~kCopied); }
  static Owned OwnedOf(Piece* copy) { return Owned(const_cast<Held*>(copy)); }

  Taken TakeNext() {
    assert(!done());
    const uint32_t number = order_[next_++];
    const uintptr_t slot = std::exchange(slots_[number], kNone);
    const Taken taken = {PieceOf(slot), StateOf(slot)};
    assert(taken.state != kNone);
    if (taken.state == kLive) CheckUnchanged(number, *taken.piece);
    if (taken.state == kCopied) copied_bytes_ -= Kind::BytesUsed(*taken.piece);
    return taken;
  }

  void Copy(uint32_t number) {
    const Piece& piece = *PieceOf(slots_[number]);
    CheckUnchanged(number, piece);
    Store(number, Kind::Clone(piece));
  }

  void Store(uint32_t number, Owned contents) {
    Piece& piece = *PieceOf(slots_[number]);
    copied_bytes_ += Kind::BytesUsed(*contents);
    slots_[number] = SlotOf(*contents.release(), kCopied);
    Kind::Release(piece);
  }

  void CheckUnchanged([[maybe_unused]] uint32_t number, [[maybe_unused]] const Piece& piece) const {
#ifndef NDEBUG
    assert(checksums_[number] == Kind::Checksum(piece));
#endif
  }

  std::vector<uint32_t> order_;
  size_t next_ = 0;  // in the order
  std::vector<uintptr_t> slots_;
  size_t copied_bytes_ = 0;
#ifndef NDEBUG
  std::vector<uint64_t> checksums_;  // by number, of the live pieces
#endif
};

}  // namespace zsetd
