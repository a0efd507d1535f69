#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/resp/words.h"
#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// One section of INFO. What it tells is true: counted, asked of the system, or the constant that it
// must be in a server without replicas, modules, scripts and disk. A field of Redis's that would be
// neither is left out.
struct InfoSection {
  std::string_view name;  // in lower case
  void (*write)(InfoWriter&, Engine&);
  bool by_default = true;
};

// All of them, in the order in which they are told.
std::span<const InfoSection> InfoSections();

// The sections that are asked for by name, in any case; `default`, `all` and `everything` stand for
// several, and no name for `default`. Unknown ones add nothing.
std::string InfoText(Engine& engine, Words names);

}  // namespace zsetd
