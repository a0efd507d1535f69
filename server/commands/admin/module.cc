// MODULE. zsetd has no modules and loads none.

#include <string_view>

#include "server/commands/admin/families.h"
#include "server/commands/common/help.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void List(Call& call) { call.reply.Array(0); }

void LoadModule(Call& call) {
  call.Fail("ERR Error loading the extension. Please check the server logs.");
}

void Unload(Call& call) { call.Fail("ERR Error unloading module: no such module with that name"); }

constexpr uint32_t kModuleFlags = kAdmin | kNoScript;
constexpr uint32_t kLoadFlags = kModuleFlags | kNoAsyncLoading | kNeedsModuleEnabled;
constexpr CommandGroup kModuleGroup = CommandGroup::kServer;

constexpr Command kModuleCommands[] = {
    {.name = "module",
     .arity = -2,
     .group = kModuleGroup,
     .since = "4.0.0",
     .summary = "Modules (not supported).",
     .cost = "Depends on the subcommand"},
    {.name = "module|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = kModuleGroup,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "module|list",
     .run = List,
     .arity = 2,
     .flags = kModuleFlags,
     .group = kModuleGroup,
     .since = "4.0.0",
     .summary = "Lists loaded modules (always none).",
     .cost = "O(1)",
     .tips = "nondeterministic_output_order"},
    {.name = "module|load",
     .run = LoadModule,
     .arity = -3,
     .flags = kLoadFlags,
     .group = kModuleGroup,
     .since = "4.0.0",
     .usage = "path [arg [arg ...]]",
     .summary = "Not supported: always fails.",
     .cost = "O(1)"},
    {.name = "module|loadex",
     .run = LoadModule,
     .arity = -3,
     .flags = kLoadFlags,
     .group = kModuleGroup,
     .since = "7.0.0",
     .usage = "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]",
     .summary = "Not supported: always fails.",
     .cost = "O(1)"},
    {.name = "module|unload",
     .run = Unload,
     .arity = 3,
     .flags = kLoadFlags,
     .group = kModuleGroup,
     .since = "4.0.0",
     .usage = "name",
     .summary = "Always fails: no such module.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ModuleCommands() { return kModuleCommands; }

}  // namespace zsetd
