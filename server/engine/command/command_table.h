#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"
#include "server/engine/command/command.h"
#include "server/engine/command/command_name_index.h"

namespace zsetd {

// Every command by name. Built once; only the names that it goes by may change, at the start.
class CommandTable {
 public:
  explicit CommandTable(std::span<const std::span<const Command>> families);

  // The row for a request: of a command with subcommands the subcommand's row, or the command's own
  // if there is no such subcommand. Null if the name is unknown. Names come in any case. O(1).
  const Command* Find(Args argv) const;
  const Command* Find(std::string_view name) const;  // "get", "client|list"

  // Finds a command by the name in its row, independently of rename-command.
  const Command* FindOriginal(Args argv) const;
  const Command* FindOriginal(std::string_view name) const;

  // The index of a row of this table.
  size_t IndexOf(const Command& command) const {
    assert(rows_.data() <= &command && &command < rows_.data() + rows_.size());
    return &command - rows_.data();
  }

  // All rows in the order of their names, so that subcommands follow their command.
  std::span<const Command> rows() const { return rows_; }

  // Renames a command, or removes its name. False if there is no command of the old name or one of
  // the new name already.
  bool Rename(std::string_view name, std::string_view new_name);

  // Whether a command, or that of a subcommand, still has a name.
  bool IsCallable(const Command& command) const;

  // The rows of a command's subcommands.
  std::span<const Command> SubcommandsOf(const Command& command) const;

 private:
  // A command's row and how many rows of subcommands follow it.
  struct Whole {
    const Command* row;
    size_t subcommands;
  };

  void IndexNewNames();

  // Null if it does not exist.
  const Whole* FindWhole(std::string_view name) const;
  const Whole* FindCallable(std::string_view name) const;
  const Command* FindSubcommand(const Whole& whole, std::string_view name) const;
  const Command* RowFor(const Whole* whole, Args argv) const;

  std::vector<Command> rows_;
  std::vector<Whole> wholes_;
  NameIndex names_;                     // of wholes_
  std::vector<std::string> new_names_;  // parallel to wholes_; empty: not renamed
  std::vector<Whole> callable_;         // those of wholes_ that have a name
  NameIndex callable_names_;            // of callable_
};

}  // namespace zsetd
