#include "server/commands/command_keys.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

#include "server/commands/command_info.h"

namespace zsetd {
namespace {

// What is wrong with asking for the keys of this request; empty if nothing is.
std::string_view WrongWith(const Command* command, Words request) {
  const bool is_known = command != nullptr && (command->run != nullptr || request.size() == 1);
  if (!is_known) return "ERR Invalid command specified";
  const bool has_keys = !KeySpecsOf(*command).empty() && !command->keys.are_channels;
  if (!has_keys) return "ERR The command has no key arguments";
  if (!command->AcceptsCount(request.size())) {
    return "ERR Invalid number of arguments specified for command";
  }
  if (KeyPositions(*command, request).empty()) {
    return "ERR Invalid arguments specified for command";
  }
  return {};
}

bool HasAny(Words words, std::initializer_list<std::string_view> options) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::any_of(
        options, [&](std::string_view option) { return EqualsIgnoringCase(word, option); });
  });
}

// What a request makes of a use that depends on its options.
std::string_view UseBy(const Command& command, Words request, std::string_view use) {
  if (use.find("variable_flags") == std::string_view::npos) return use;
  if (command.name == "set") {
    return HasAny(request.subspan(3), {"get"}) ? "RW access update" : "OW update";
  }
  return HasAny(request.subspan(2), {"set", "incrby"}) ? "RW access update" : "RO access";
}

// How the key at this position of a request is used: by the last spec that begins before it.
std::string_view UseAt(const Command& command, const std::vector<KeySpec>& specs, Words request,
                       size_t position) {
  const auto begins_behind = [&](const KeySpec& spec) {
    return static_cast<size_t>(spec.begin) > position;
  };
  const auto next = std::ranges::find_if(specs, begins_behind);
  return UseBy(command, request, std::prev(next)->use);
}

void ReplyKeys(Call& call, bool with_flags) {
  const Words request = call.args.Rest();
  const Command* command = call.engine.commands().Find(request);
  const std::string_view error = WrongWith(command, request);
  if (!error.empty()) return call.Fail(error);
  const std::vector<size_t> positions = KeyPositions(*command, request);
  const std::vector<KeySpec> specs = KeySpecsOf(*command);
  call.reply.Array(positions.size());
  for (const size_t position : positions) {
    if (with_flags) call.reply.Array(2);
    call.reply.Bulk(request[position]);
    if (with_flags) ReplyKeyFlags(call.reply, UseAt(*command, specs, request, position));
  }
}

}  // namespace

void CommandGetKeys(Call& call) { ReplyKeys(call, /*with_flags=*/false); }
void CommandGetKeysAndFlags(Call& call) { ReplyKeys(call, /*with_flags=*/true); }

}  // namespace zsetd
