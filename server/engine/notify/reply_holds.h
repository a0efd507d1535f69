#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "protocol/resp/args.h"
#include "server/engine/notify/recent_changes.h"
#include "server/engine/store/store_listener.h"

namespace zsetd {

class Caller;
struct Command;
struct Services;

// When replies may be sent, with respect to the append-only log.
enum class Release { kNow, kLater, kNever };

// Holds replies until what they report is durable in the append-only log. A reply waits only for
// positions that the log has returned: the end of the caller's own unit (Units::End), and of
// the units that changed the keys which the client has read. Passes all changes to the next
// listener.
class ReplyHolds : public StoreListener {
 public:
  // Both outlive it, and may be constructed later.
  ReplyHolds(StoreListener& next, const Services& services) : next_(next), services_(services) {}

  // Whether replies are held at present: the log says so. At first they are not.
  void set_on(bool on) { is_on_ = on; }
  bool IsOn() const { return is_on_; }

  // Whether the log has units that its file does not have yet: replies to them are held until it
  // has, even if not IsOn().
  void set_log_is_unwritten(bool is_unwritten) { log_is_unwritten_ = is_unwritten; }
  bool log_is_unwritten() const { return log_is_unwritten_; }

  // When the caller's replies may leave.
  Release ReleaseOf(const Caller& caller) const;

  // The caller has run this in that database: its reply is held until the changes of the keys that
  // it read are durable. Changes of the caller's own unit are part of that unit. Only while IsOn().
  void HoldForReads(Caller& caller, int database, const Command& command, Args argv) const;

  // The log has appended a unit, which ends at this position, with the changes since the last one.
  void OnAppended(uint64_t position) {
    if (recent_changes_.HasNotes()) [[unlikely]]
      recent_changes_.Place(position);
  }

  void OnChange(const Change& change) override;
  bool WantsSubkeys(KeyEvent event) const override { return next_.WantsSubkeys(event); }
  void OnMiss(int database, std::string_view key) override { next_.OnMiss(database, key); }
  void BeforeClear(std::span<const std::unique_ptr<Database>> databases) override;
  void BeforeSwap(Database& a, Database& b) override;

 private:
  StoreListener& next_;
  const Services& services_;
  RecentChanges recent_changes_;
  bool is_on_ = false;  // there is persistence then, as with the next
  bool log_is_unwritten_ = false;
};

}  // namespace zsetd
