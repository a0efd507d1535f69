#pragma once

#include <functional>
#include <vector>

namespace zsetd {

class Caller;
class Engine;
class Unit;

// Ends units (propagation/effects.h), and makes the changes that wait for their ends.
class Units {
 public:
  // The engine outlives it.
  explicit Units(Engine& engine) : engine_(engine) {}
  Units(const Units&) = delete;

  // Ends the unit of the caller's command. If that ended a whole unit, notes for the caller where
  // it ends in the journals, and makes the changes of AfterUnit().
  void End(Unit unit, Caller& caller);

  // Whether a transaction runs, or a script is suspended: the running command is a part of a unit.
  bool IsInTransaction() const;

  // Makes a change of the journals, or of files that show the data, which must not divide a unit:
  // now, or within a transaction when that has ended and its unit was appended. It is not made if
  // the server ends before.
  void AfterUnit(std::function<void()> change);

 private:
  void MakeChanges();

  Engine& engine_;
  std::vector<std::function<void()>> changes_;
};

}  // namespace zsetd
