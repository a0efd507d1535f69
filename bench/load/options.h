#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/load/step.h"

namespace zsetd {

// The command line; see kUsage.
struct Options {
  int port = 6379;
  size_t connections = 50;
  size_t steps = 1;  // that a connection sends together
  size_t requests = 100'000;
  double rate = 0;  // requests per second; 0: as many as the server can process
  std::vector<Variable> variables;
  size_t listeners = 0;
  std::string channel;
  std::vector<std::string> step;
};

// The help text.
extern const char kUsage[];

absl::StatusOr<Options> ParseOptions(int argc, char** argv);

}  // namespace zsetd
