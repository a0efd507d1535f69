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

// Applies a master's stream unit by unit. A unit is applied when it has arrived completely, so the
// data always equals the master's between two units.
//
//   bytes ──► RequestParser ──► Applier ──► engine
//      └─────── of whole units ──────────► on_applied, byte for byte: log, backlog
class MasterStream {
 public:
  // Consecutive complete units that were applied.
  struct Applied {
    std::string_view bytes;

    // The requests in RESP, for a log: `bytes`, or if that has inline requests, empty ones, or
    // requests about the link within a unit, the other requests encoded again. Unused unless
    // `changes_data`.
    std::string_view log_bytes;
    int database_before = 0;  // the database of the first unit, unless it begins with SELECT
    int database_after = 0;
    bool changes_data = true;  // false: only requests about the link, such as PING and REPLCONF
  };
  using OnApplied = std::function<void(const Applied&)>;  // called while effects are muted

  // The engine outlives this.
  MasterStream(Engine& engine, OnApplied on_applied);

  // Starts at `offset` of the master's history, in this database. Discards an incomplete unit.
  void Begin(int64_t offset, int database);

  // Processes received bytes and applies all complete units. An error states the request that
  // cannot be applied. The data has then diverged, and Begin() must follow. Memory use is
  // proportional to the incomplete unit.
  absl::Status Receive(std::string_view bytes);

  // The offset in the master's history up to the last applied unit.
  int64_t offset() const { return offset_; }

  // The number of received bytes of an incomplete unit.
  size_t unapplied_bytes() const { return kept_.size(); }

  // Runs the commands. Its database is the database of the next unit.
  const Applier& applier() const { return applier_; }
  int database() const { return applier_.database(); }

  // The number of skipped commands (rdb-skip-unknown), and the first one.
  uint64_t skipped() const { return applier_.skipped(); }
  const std::string& first_skipped() const { return applier_.first_skipped(); }

  // Whether the master has asked for an acknowledgment since the last call.
  bool TakeAckRequest() { return std::exchange(ack_requested_, false); }

 private:
  absl::Status ApplyAll();
  absl::Status ApplyOne(Args request);
  void EndUnit();
  void Report();
  void Report(std::string_view log_bytes);
  std::string_view UnreportedBytes() const;

  Engine& engine_;
  const OnApplied on_applied_;
  Applier applier_;
  RequestParser parser_;
  int64_t offset_ = 0;
  std::string kept_;           // the bytes of an incomplete unit
  std::string_view received_;  // `kept_` and the bytes that are being applied
  size_t parsed_ = 0;          // the part of `received_` that was passed to the parser
  size_t request_end_ = 0;     // the end of the last request in `received_`
  size_t units_end_ = 0;       // the part of `received_` with complete units
  size_t reported_ = 0;        // the part of `received_` that was passed to `on_applied_`
  int reported_database_ = 0;  // the database at the end of `reported_`
  int units_database_ = 0;     // the database at `units_end_`
  bool unit_changes_data_ = false;
  bool unit_is_plain_ = true;       // its bytes are the encoding of requests that a log may contain
  bool units_change_data_ = false;  // the units after `reported_`
  bool ack_requested_ = false;
};

}  // namespace zsetd
