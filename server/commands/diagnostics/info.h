#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/resp/args.h"
#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// One section of INFO. Its values are true: counted, read from the system, or the constant that it
// must be in a server without replicas, modules, scripts and disk. A field of Redis's that would be
// neither is left out.
struct InfoSection {
  std::string_view name;  // in lower case
  void (*write)(InfoWriter&, Engine&);
  bool by_default = true;
};

// All of them, in their order in the reply.
std::span<const InfoSection> InfoSections();

// The sections with these names, in any case; `default`, `all` and `everything` select several, and
// no name for `default`. Unknown ones add nothing.
std::string InfoText(Engine& engine, Args names);

}  // namespace zsetd
