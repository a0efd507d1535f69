#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/util/rng.h"
#include "protocol/resp/request_writer.h"

namespace zsetd {

// A number in requests, which differs in each step.
struct Variable {
  enum class Kind {
    kRandom,   // a random number below `number`
    kCounter,  // `number` in the first step, incremented in each further step
  };

  std::string name;
  Kind kind = Kind::kRandom;
  uint64_t number = 1;
};

// Requests that belong together and are sent in one write, such as the four requests that record an
// item that a user viewed. In their arguments {name} is the value of a variable, {name-60} is the
// value minus 60, and {900-name} is 900 minus the value, each in twelve digits, like numbers of
// redis-benchmark. Within a step a variable has one value. The requests are encoded once; a step
// only copies the bytes and writes the digits. So the load takes less processor time than the
// server.
//
//   "ZADD seen:{user} {clock} {item}"    *4 $4 ZADD $17 seen:............ $12 ............ ...
//                                                            digits go here   and here
class Step {
 public:
  // Arguments are separated by spaces. Returns an error if a variable is not declared.
  static absl::StatusOr<Step> Parse(std::span<const std::string> requests,
                                    std::vector<Variable> variables);

  size_t requests() const { return requests_; }

  // Appends the requests in RESP, then advances the variables.
  void AppendTo(std::string& out);

 private:
  // The digits of a variable in `encoded_`. Their value is `number` plus or minus the variable.
  struct Place {
    size_t offset;
    size_t variable;
    uint64_t number;
    bool is_subtracted;

    uint64_t ValueOf(uint64_t value) const {
      return is_subtracted ? number - value : number + value;
    }
  };

  explicit Step(std::vector<Variable> variables);
  absl::Status Encode(std::string_view request);
  absl::Status EncodeWord(std::string_view word, RequestWriter& writer, OutputBuffer& out);
  std::optional<size_t> FindVariable(std::string_view name) const;
  absl::StatusOr<Place> ReadPlace(std::string_view text) const;  // the text between the braces
  void MoveOn();

  std::vector<Variable> variables_;
  std::vector<uint64_t> values_;  // the values of the variables in the next step
  std::string encoded_;
  std::vector<Place> places_;
  size_t requests_ = 0;
  Rng rng_{1};  // the same requests in every run
};

}  // namespace zsetd
