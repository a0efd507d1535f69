// A nodes.conf of arbitrary bytes under libFuzzer: it is refused, or the same topology is written
// and read again.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "server/cluster/topology/nodes_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = zsetd::ReadNodesText({reinterpret_cast<const char*>(data), size});
  if (!read.ok()) return 0;
  const std::string text = zsetd::NodesFileText(*read);
  const auto again = zsetd::ReadNodesText(text);
  if (again.ok() && zsetd::NodesFileText(*again) == text) return 0;
  std::cerr << "written and not read again: " << again.status() << '\n' << text;
  std::abort();
}
