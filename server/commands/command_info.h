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
  bool written;
  std::string_view option = {};  // stands before it, somewhere from `begin` on
};

std::vector<KeySpec> KeySpecsOf(const Command& command);

// How the keys are used, as a set: "RO" and "access", or the worst that a write may do to them.
void ReplyKeyFlags(ReplyWriter& reply, bool written);

// What COMMAND INFO tells of a command, and of its subcommands.
void ReplyCommandInfo(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
