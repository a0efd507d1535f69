#include "core/keyspace/expiry_index.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kBlockPlaces = 128;
constexpr size_t kGrowth = 8;                       // places
constexpr size_t kSparsePlaces = kBlockPlaces / 4;  // fewer: a block merges with a neighbour
constexpr size_t kMergedPlaces =
    kBlockPlaces * 3 / 4;  // at most, so that it is not split again immediately

constexpr int64_t kFurthest = (int64_t{1} << 47) - 1;  // milliseconds from 1970

// By default a vector doubles when it grows.
template <class Block>
void ReserveFor(Block& block, size_t places) {
  if (places > block.capacity()) block.reserve((places + kGrowth - 1) / kGrowth * kGrowth);
}

}  // namespace

ExpiryIndex::Place::Place(Millis deadline, const Entry& entry) {
  const uint64_t time = std::clamp(deadline.count(), -kFurthest, kFurthest) + kFurthest;
  const uint64_t address = reinterpret_cast<uintptr_t>(&entry);
  assert(address >> 48 ==
         0);  // on supported systems user addresses have at most 47 bits by default
  high_ = static_cast<uint32_t>(time >> 16);
  middle_ = static_cast<uint32_t>(time << 16 | address >> 32);
  low_ = static_cast<uint32_t>(address);
}

Entry* ExpiryIndex::Place::entry() const {
  const uint64_t address = uint64_t{middle_ & 0xffff} << 32 | low_;
  return reinterpret_cast<Entry*>(static_cast<uintptr_t>(address));
}

ExpiryIndex& ExpiryIndex::operator=(ExpiryIndex&& other) noexcept {
  blocks_ = std::exchange(other.blocks_, {});
  size_ = std::exchange(other.size_, 0);
  sum_ = std::exchange(other.sum_, 0);
  return *this;
}

void ExpiryIndex::Add(Millis deadline, Entry& entry) {
  const Place added(deadline, entry);
  ++size_;
  sum_ += deadline.count();
  if (blocks_.empty()) blocks_.try_emplace(Place());
  const auto found = BlockFor(added);
  Block& block = found->second;
  if (block.size() == kBlockPlaces) return Split(found, added);
  ReserveFor(block, block.size() + 1);
  block.insert(std::ranges::lower_bound(block, added), added);
}

void ExpiryIndex::Remove(Millis deadline, Entry& entry) {
  const Place removed(deadline, entry);
  const auto found = BlockFor(removed);
  Block& block = found->second;
  const auto at = std::ranges::lower_bound(block, removed);
  assert(at != block.end() && *at == removed);
  block.erase(at);
  --size_;
  sum_ -= deadline.count();
  if (block.empty()) return Fill(found);
  MergeIfSparse(found);
}

bool ExpiryIndex::Contains(Millis deadline, const Entry& entry) const {
  if (blocks_.empty()) return false;
  const Place place(deadline, entry);
  return std::ranges::binary_search(std::prev(blocks_.upper_bound(place))->second, place);
}

Millis ExpiryIndex::Mean() const {
  return size_ == 0 ? Millis(0) : Millis(sum_ / static_cast<__int128>(size_));
}

Entry* ExpiryIndex::Earliest() const {
  return blocks_.empty() ? nullptr : blocks_.begin()->second.front().entry();
}

Entry* ExpiryIndex::Latest() const {
  return blocks_.empty() ? nullptr : blocks_.rbegin()->second.back().entry();
}

Entry* ExpiryIndex::Random(Rng& rng) const {
  if (blocks_.empty()) return nullptr;
  size_t place = rng.Below(size_);
  auto at = blocks_.begin();
  for (; place >= at->second.size(); ++at) place -= at->second.size();
  return at->second[place].entry();
}

void ExpiryIndex::Check() const {
  [[maybe_unused]] size_t places = 0;
  for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
    const Block& block = at->second;
    assert(!block.empty() && block.size() <= kBlockPlaces);
    assert(std::ranges::is_sorted(block) && at->first <= block.front());
    assert(std::next(at) == blocks_.end() || block.back() < std::next(at)->first);
    places += block.size();
  }
  assert(places == size_);
}

ExpiryIndex::Blocks::iterator ExpiryIndex::BlockFor(const Place& place) {
  return std::prev(blocks_.upper_bound(place));
}

// Moves half of the full block to a new block. If the added place is after all others, the new
// block starts with it alone.
void ExpiryIndex::Split(Blocks::iterator full, const Place& added) {
  Block& block = full->second;
  const bool at_end = std::next(full) == blocks_.end() && block.back() < added;
  const auto middle = at_end ? block.end() : block.begin() + kBlockPlaces / 2;
  Block upper;
  ReserveFor(upper, block.end() - middle + 1);
  upper.assign(middle, block.end());
  block.erase(middle, block.end());
  Block& home = at_end || upper.front() < added ? upper : block;
  home.insert(std::ranges::lower_bound(home, added), added);
  if (!at_end) block.shrink_to_fit();
  const Place first = upper.front();
  blocks_.emplace(first, std::move(upper));
}

// Deadlines move often; without this, blocks would become nearly empty.
void ExpiryIndex::MergeIfSparse(Blocks::iterator sparse) {
  Block& block = sparse->second;
  if (block.size() >= kSparsePlaces) return;
  const auto next = std::next(sparse);
  if (next == blocks_.end() || block.size() + next->second.size() > kMergedPlaces) return;
  ReserveFor(block, block.size() + next->second.size());
  block.insert(block.end(), next->second.begin(), next->second.end());
  blocks_.erase(next);
}

// Moves the next block into the empty one, so that the first block keeps the lowest bound.
void ExpiryIndex::Fill(Blocks::iterator empty) {
  const auto next = std::next(empty);
  if (next == blocks_.end()) {
    blocks_.erase(empty);
  } else {
    empty->second = std::move(next->second);
    blocks_.erase(next);
  }
}

}  // namespace zsetd
