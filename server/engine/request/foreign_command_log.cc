#include "server/engine/request/foreign_command_log.h"

#include <cstddef>
#include <string>

#include "server/engine/client/client.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/log.h"

namespace zsetd {

void ForeignCommandLog::Note(const Caller& caller, std::string_view name) {
  const ForeignCommand* const foreign = FindForeignCommand(name);
  if (foreign == nullptr || !logged_.insert(foreign->name).second) return;
  constexpr size_t kMostLibraryBytes = 128;
  const Client* const client = caller.client();
  const bool is_named = client != nullptr && !client->lib_name.empty();
  const std::string library =
      is_named ? (client->lib_name + " " + client->lib_version).substr(0, kMostLibraryBytes)
               : "not named";
  log_.Write(LogLevel::kWarning,
             "A client asked for " + UpperCase(foreign->name) +
                 ", which Redis has and zsetd does not (" + std::string(foreign->categories) +
                 "); its address: " + caller.address + ", its library: " + library +
                 ". Later requests for it are refused without a line here");
}

}  // namespace zsetd
