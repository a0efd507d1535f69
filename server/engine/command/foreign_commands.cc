#include "server/engine/command/foreign_commands.h"

#include <algorithm>
#include <string>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr ForeignCommand kCommands[] = {
    {"client|capa", "@slow @connection"},
    {"client|import-source", "@admin @slow @dangerous @connection"},
    {"commandlog", "@slow"},
    {"commandlog|get", "@admin @slow @dangerous"},
    {"commandlog|help", "@slow"},
    {"commandlog|len", "@admin @slow @dangerous"},
    {"commandlog|reset", "@admin @slow @dangerous"},
    {"delex", "@write @string @fast"},
    {"delifeq", "@write @string @fast"},
    {"digest", "@read @string @fast"},
    {"hotkeys", "@slow"},
    {"msetex", "@write @string @slow"},
    {"script|debug", "@slow @scripting"},
    {"script|show", "@slow @scripting"},
    {"vadd", "@write @slow"},
    {"vcard", "@read @fast"},
    {"vdim", "@read @fast"},
    {"vemb", "@read @fast"},
    {"vgetattr", "@read @fast"},
    {"vinfo", "@read @fast"},
    {"vismember", "@read @fast"},
    {"vlinks", "@read @fast"},
    {"vrandmember", "@read @slow"},
    {"vrange", "@read @slow"},
    {"vrem", "@write @slow"},
    {"vsetattr", "@write @fast"},
    {"vsim", "@read @slow"},
};

}  // namespace

std::span<const ForeignCommand> AllForeignCommands() { return kCommands; }

const ForeignCommand* FindForeignCommand(std::string_view name) {
  static_assert(std::ranges::is_sorted(kCommands, {}, &ForeignCommand::name));
  const std::string wanted = LowerCase(name);
  const auto* const found = std::ranges::lower_bound(kCommands, wanted, {}, &ForeignCommand::name);
  return found != std::end(kCommands) && found->name == wanted ? found : nullptr;
}

}  // namespace zsetd
