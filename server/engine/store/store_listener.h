#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "server/engine/store/database.h"

namespace zsetd {

// Is notified of what happens to the data, as it happens. None of these calls may change a key,
// except those that are past their deadline.
class StoreListener {
 public:
  virtual ~StoreListener() = default;

  // A key has changed. Called after the change, once for each.
  virtual void OnChange(const Change& change) = 0;

  // Whether a listener wants the members or fields that change with this event (Change::subkeys).
  // Called only if the settings publish subkeys.
  virtual bool WantsSubkeys(KeyEvent event) const = 0;

  // A key to be read does not exist.
  virtual void OnMiss(int database, std::string_view key) = 0;

  // All keys of these databases are about to be deleted.
  virtual void BeforeClear(std::span<const std::unique_ptr<Database>> databases) = 0;

  // These two, which are not the same, are about to exchange their keys.
  virtual void BeforeSwap(Database& a, Database& b) = 0;
};

}  // namespace zsetd
