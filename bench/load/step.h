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

namespace zsetd {

// A number that requests have in them, another one in each step.
struct Variable {
  enum class Kind {
    kRandom,   // below `number`
    kCounter,  // `number`, and one more in each step
  };

  std::string name;
  Kind kind = Kind::kRandom;
  uint64_t number = 1;
};

// Requests that belong together and are sent in one write, such as the four that record an item a
// user viewed. In their arguments {name} is a variable, {name-60} is 60 less and {900-name} is the
// difference from 900, in twelve digits as redis-benchmark writes them; within a step a variable
// has one value. They are encoded once: a step costs no more than its bytes and digits, so that the
// load is cheaper than the server.
//
//   "ZADD seen:{user} {clock} {item}"    *4 $4 ZADD $17 seen:............ $12 ............ ...
//                                                            digits go here   and here
class Step {
 public:
  // Args are separated by spaces. Refuses a variable that is not declared.
  static absl::StatusOr<Step> Parse(std::span<const std::string> requests,
                                    std::vector<Variable> variables);

  size_t requests() const { return requests_; }

  // Appends the requests in RESP, then advances the variables.
  void AppendTo(std::string& out);

 private:
  // Where in `encoded_` the digits of a variable stand, added to a number or subtracted from it.
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
  absl::Status EncodeWord(std::string_view word);
  std::optional<size_t> FindVariable(std::string_view name) const;
  absl::StatusOr<Place> ReadPlace(std::string_view text) const;  // the text between the braces
  void MoveOn();

  std::vector<Variable> variables_;
  std::vector<uint64_t> values_;  // of the variables, in the step that comes
  std::string encoded_;
  std::vector<Place> places_;
  size_t requests_ = 0;
  Rng rng_{1};  // the same requests in every run
};

}  // namespace zsetd
