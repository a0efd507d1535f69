#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

namespace zsetd {

// Owns a First, a Second, or no object, in one word. Objects have even addresses, so the lowest bit
// of the pointer stores the type. Movable; a moved-from owner is empty.
template <class First, class Second, class FreeFirst, class FreeSecond>
class TaggedOwner {
 public:
  TaggedOwner() = default;
  TaggedOwner(TaggedOwner&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  TaggedOwner& operator=(TaggedOwner&& other) noexcept {
    TaggedOwner taken(std::move(other));
    std::swap(word_, taken.word_);
    return *this;
  }
  ~TaggedOwner() { Reset(); }

  // The object if it is of this type, else null.
  First* first() const { return HoldsSecond() ? nullptr : reinterpret_cast<First*>(word_); }
  Second* second() const {
    return HoldsSecond() ? reinterpret_cast<Second*>(word_ - kSecondMark) : nullptr;
  }

  // Frees the owned object, and takes over another one or none.
  void Reset() { Take(0); }
  void Reset(First* first) {
    const auto word = reinterpret_cast<uintptr_t>(first);
    assert((word & kSecondMark) == 0);
    Take(word);
  }
  void Reset(Second* second) {
    const auto word = reinterpret_cast<uintptr_t>(second);
    assert((word & kSecondMark) == 0);
    Take(word + kSecondMark);
  }

  // Releases the object to the caller. Returns null and changes nothing if the object is not of
  // this type.
  First* ReleaseFirst() { return Release(first()); }
  Second* ReleaseSecond() { return Release(second()); }

 private:
  static constexpr uintptr_t kSecondMark = 1;

  bool HoldsSecond() const { return (word_ & kSecondMark) != 0; }

  template <class Object>
  Object* Release(Object* object) {
    if (object != nullptr) word_ = 0;
    return object;
  }

  void Take(uintptr_t word) {
    First* old_first = first();
    Second* old_second = second();
    word_ = word;
    if (old_first != nullptr) FreeFirst()(old_first);
    if (old_second != nullptr) FreeSecond()(old_second);
  }

  uintptr_t word_ = 0;
};

}  // namespace zsetd
