#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/words.h"
#include "server/engine/command.h"
#include "server/engine/latency_histogram.h"
#include "server/engine/name_index.h"

namespace zsetd {

// What INFO commandstats tells of one command.
struct CommandStats {
  uint64_t calls = 0;     // ran, well or not
  uint64_t micros = 0;    // the time these took
  uint64_t rejected = 0;  // refused before they ran
  uint64_t failed = 0;    // ran and replied an error

  LatencyHistogram latency;  // of those that ran while latency-tracking was on
};

// Every command by name. Built once; the statistics beside the rows are all that changes.
class CommandTable {
 public:
  explicit CommandTable(std::span<const std::span<const Command>> families);

  // The row for a request: of a command with subcommands the subcommand's row, or the command's own
  // if there is no such subcommand. Null if the name is unknown. Names come in any case. O(1).
  const Command* Find(Words words) const;
  const Command* Find(std::string_view name) const;  // "get", "client|list"

  // All rows in the order of their names, so that subcommands follow their command.
  std::span<const Command> rows() const { return rows_; }

  // The rows of a command's subcommands.
  std::span<const Command> SubcommandsOf(const Command& command) const;

  // `command` is a row of this table.
  CommandStats& stats(const Command& command) { return stats_[&command - rows_.data()]; }
  const CommandStats& stats(const Command& command) const {
    return stats_[&command - rows_.data()];
  }
  void ResetStats();

 private:
  // A command's row and how many rows of subcommands follow it.
  struct Whole {
    const Command* row;
    size_t subcommands;
  };

  const Whole* FindWhole(std::string_view name) const;  // null if there is none
  const Command* FindSubcommand(const Whole& whole, std::string_view name) const;

  std::vector<Command> rows_;
  std::vector<CommandStats> stats_;  // beside rows_
  std::vector<Whole> wholes_;
  NameIndex names_;  // of wholes_
};

}  // namespace zsetd
