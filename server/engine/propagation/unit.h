#pragma once

#include <cassert>
#include <utility>

#include "server/engine/propagation/effects.h"

namespace zsetd {

// A scope whose effects form one unit (propagation/effects.h). Scopes nest, and the outermost one
// ends the unit: when Commit() is called, or with its life. May be moved, to end the unit later.
class Unit {
 public:
  // The effects outlive it.
  explicit Unit(Effects& effects) : effects_(&effects) { effects_->OpenUnit(); }
  Unit(Unit&& other) noexcept : effects_(std::exchange(other.effects_, nullptr)) {}
  Unit& operator=(Unit&& other) noexcept {
    std::swap(effects_, other.effects_);
    return *this;
  }
  ~Unit() {
    if (effects_ != nullptr) Commit();
  }

  // Ends this scope. Returns where the unit ends, if this was the outermost scope. May be called
  // once.
  Effects::JournalPositions Commit() {
    assert(effects_ != nullptr);
    return std::exchange(effects_, nullptr)->CloseUnit();
  }

 private:
  Effects* effects_;  // null: the scope has ended, or was moved
};

}  // namespace zsetd
