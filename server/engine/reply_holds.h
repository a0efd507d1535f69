#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "protocol/resp/args.h"
#include "server/engine/recent_changes.h"
#include "server/engine/store/store_listener.h"

namespace zsetd {

class Client;
class Persistence;
struct Command;

// When replies may be sent, with respect to the append-only log.
enum class Release { kNow, kLater, kNever };

// Which replies are held until what they tell of is durable in the append-only log. It notes where
// in the log each key was changed, and passes what it hears of to the next listener.
class ReplyHolds : public StoreListener {
 public:
  // `next` outlives it, and may be constructed later.
  explicit ReplyHolds(StoreListener& next) : next_(next) {}

  // Null: nothing is held.
  void set_persistence(Persistence* persistence) { persistence_ = persistence; }

  // Whether replies are held at present.
  bool IsOn() const;

  // When the client's replies may leave.
  Release ReleaseOf(const Client& client) const;

  // The client has run this: what it was told of keys is held until their changes are durable. Only
  // while IsOn().
  void HoldForReads(Client& client, const Command& command, Args argv) const;

  void OnChange(const Change& change) override;
  bool WantsSubkeys(KeyEvent event) const override { return next_.WantsSubkeys(event); }
  void OnMiss(int database, std::string_view key) override { next_.OnMiss(database, key); }
  void BeforeClear(std::span<const std::unique_ptr<Database>> databases) override;
  void BeforeSwap(Database& a, Database& b) override;

 private:
  uint64_t NextPosition() const;
  void RecordAll();

  StoreListener& next_;
  Persistence* persistence_ = nullptr;
  RecentChanges recent_changes_;
};

}  // namespace zsetd
