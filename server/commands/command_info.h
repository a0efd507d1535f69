#pragma once

#include <string_view>
#include <vector>

#include "protocol/reply_writer.h"
#include "server/engine/command_table.h"

namespace zsetd {

// The ACL categories that Redis has a command in, as they follow from its flags and its group.
std::vector<std::string_view> CategoriesOf(const Command& command);

// Keys of a request that are found, and used, in the same way.
struct KeySpec {
  int begin;     // the position of the first, or of their count
  bool counted;  // a count stands there, the keys behind it
  int last = 0;  // uncounted: how far behind the first; negative: from the end of the request
  int step = 1;
  std::string_view use = {};     // as Redis names it, "RW access update"
  std::string_view option = {};  // stands before it, somewhere from `begin` on
};

// Where the command's keys are, by their places in the row, and how they are used: by its
// `key_use`, a comma between the specs, or by its flags. Ordered by where they begin.
std::vector<KeySpec> KeySpecsOf(const Command& command);

// How keys are used, as a set of the words of `use`.
void ReplyKeyFlags(ReplyWriter& reply, std::string_view use);

// What COMMAND INFO tells of a command, and of its subcommands.
void ReplyCommandInfo(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
