#include "bench/load/options.h"

#include <getopt.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"

namespace zsetd {

const char kUsage[] = R"(usage: load_generator [OPTION...] REQUEST...

Sends the requests repeatedly. The requests together are one step. Prints a line of JSON with the
number of replies, the rate and the latencies. {NAME} in a request is the value of a variable in
twelve digits, {NAME-60} is the value minus 60, and {900-NAME} is 900 minus the value.

  --port N            the port of the server on this machine; 6379
  --connections N     the number of connections; 50
  --steps N           steps that a connection sends before it waits for replies; 1
  --requests N        the number of requests, rounded up to whole steps; 100000
  --rate R            requests per second; without it, as many as the server can process
  --random NAME=N     a variable: a random number below N in each step
  --counter NAME=N    a variable: N in the first step, incremented in each further step
  --listeners N=NAME  the number of clients that subscribe to the channel NAME
)";

namespace {

const option kOptions[] = {
    {"port", required_argument, nullptr, 'p'},
    {"connections", required_argument, nullptr, 'c'},
    {"steps", required_argument, nullptr, 's'},
    {"requests", required_argument, nullptr, 'n'},
    {"rate", required_argument, nullptr, 'r'},
    {"random", required_argument, nullptr, 'x'},
    {"counter", required_argument, nullptr, 'i'},
    {"listeners", required_argument, nullptr, 'l'},
    {},
};

using Pair = std::pair<std::string_view, std::string_view>;

Pair SplitAtEquals(std::string_view text) {
  const size_t equals = std::min(text.find('='), text.size());
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
}

template <typename Number>
bool ReadCount(std::string_view text, Number& count) {
  const auto number = ParseInteger(text);
  count = static_cast<Number>(number.value_or(0));
  return number.value_or(0) > 0;
}

bool AddVariable(Variable::Kind kind, std::string_view text, std::vector<Variable>& variables) {
  const auto [name, number_text] = SplitAtEquals(text);
  Variable variable{.name = std::string(name), .kind = kind};
  if (!ReadCount(number_text, variable.number)) return false;
  variables.push_back(std::move(variable));
  return true;
}

bool ReadListeners(std::string_view text, Options& options) {
  const auto [count, channel] = SplitAtEquals(text);
  options.channel = channel;
  return ReadCount(count, options.listeners);
}

bool ReadRate(std::string_view text, double& rate) {
  const auto number = ParseDouble(text);
  rate = number.value_or(0);
  return rate > 0;
}

bool ReadOption(int letter, std::string_view text, Options& options) {
  switch (letter) {
    case 'p':
      return ReadCount(text, options.port);
    case 'c':
      return ReadCount(text, options.connections);
    case 's':
      return ReadCount(text, options.steps);
    case 'n':
      return ReadCount(text, options.requests);
    case 'r':
      return ReadRate(text, options.rate);
    case 'x':
      return AddVariable(Variable::Kind::kRandom, text, options.variables);
    case 'i':
      return AddVariable(Variable::Kind::kCounter, text, options.variables);
    case 'l':
      return ReadListeners(text, options);
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  Options options;
  opterr = 0;  // the caller reports errors
  for (int letter; (letter = ::getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (!ReadOption(letter, optarg == nullptr ? "" : optarg, options)) {
      return absl::InvalidArgumentError(std::string("cannot use ") + argv[optind - 1]);
    }
  }
  options.step.assign(argv + optind, argv + argc);
  if (options.step.empty()) return absl::InvalidArgumentError("no request is given");
  return options;
}

}  // namespace zsetd
