#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/resp/args.h"
#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// One section of INFO. Each value is counted, read from the system, or a constant if zsetd does not
// have the feature. Fields of Redis for which neither is possible are left out.
struct InfoSection {
  std::string_view name;  // in lower case
  void (*write)(InfoWriter&, Engine&);
  bool by_default = true;
};

// All sections, in the order of the reply.
std::span<const InfoSection> InfoSections();

// Returns the sections with these names, ignoring case. `default`, `all` and `everything` select
// several sections; without a name `default` applies. Unknown names add nothing.
std::string InfoText(Engine& engine, Args names);

}  // namespace zsetd
