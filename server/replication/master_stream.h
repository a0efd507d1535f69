#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "protocol/resp/request_parser.h"
#include "server/engine/applier.h"
#include "server/engine/engine.h"

namespace zsetd {

// Applies the stream of a master's changes unit by unit, each when it has arrived completely, so
// that the data always equals the master's between two units.
//
//   bytes ──► RequestParser ──► Applier ──► engine
//      └─────── of whole units ──────────► on_applied, byte for byte: log, backlog
class MasterStream {
 public:
  // Whole units that have been applied, one after the other.
  struct Applied {
    std::string_view bytes;
    int database_before = 0;  // that the first of them was for, unless it begins with SELECT
    int database_after = 0;
    bool changes_data = true;  // or is only about the link: PING, REPLCONF
  };
  using OnApplied = std::function<void(const Applied&)>;  // called while effects are muted

  // The engine outlives it.
  MasterStream(Engine& engine, OnApplied on_applied);

  // Starts at `offset` of the master's history, in this database. Discards an incomplete unit.
  void Begin(int64_t offset, int database);

  // Processes received bytes and applies all complete units. An error names the request that cannot
  // be applied: the data has then diverged, and Begin() must follow. Memory follows the incomplete
  // unit.
  absl::Status Receive(std::string_view bytes);

  // The offset in the master's history up to the last applied unit.
  int64_t offset() const { return offset_; }

  // Received bytes of an incomplete unit.
  size_t unapplied_bytes() const { return kept_.size(); }

  // As which client it is applied, whose database is that of the next unit.
  const Client& client() const { return applier_.client(); }
  int database() const { return client().database; }

  // The number of commands that were left out (rdb-skip-unknown), and the first one.
  uint64_t skipped() const { return applier_.skipped(); }
  const std::string& first_skipped() const { return applier_.first_skipped(); }

  // Whether the master has asked for an acknowledgment since the last call.
  bool TakeAckRequest() { return std::exchange(ack_requested_, false); }

 private:
  absl::Status ApplyAll();
  absl::Status ApplyOne(Args request);
  void EndUnit();
  void Report();

  Engine& engine_;
  const OnApplied on_applied_;
  Applier applier_;
  RequestParser parser_;
  int64_t offset_ = 0;
  std::string kept_;           // bytes of a unit that has not come whole
  std::string_view received_;  // those and the bytes that are being applied
  size_t parsed_ = 0;          // of these, those that the parser has been given
  size_t units_end_ = 0;       // of these, those of whole units
  size_t reported_ = 0;        // of these, those that on_applied_ has got
  int reported_database_ = 0;  // at that place
  int units_database_ = 0;     // at the end of the last whole unit
  bool unit_changes_data_ = false;
  bool units_change_data_ = false;  // those that are not reported
  bool ack_requested_ = false;
};

}  // namespace zsetd
