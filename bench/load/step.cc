#include "bench/load/step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kDigits = 12;

void WriteDigits(uint64_t number, char* place) {
  for (size_t i = kDigits; i > 0; --i, number /= 10)
    place[i - 1] = static_cast<char>('0' + number % 10);
}

std::vector<std::string_view> SplitAtSpaces(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return words;
}

}  // namespace

Step::Step(std::vector<Variable> variables) : variables_(std::move(variables)) {
  for (const Variable& variable : variables_) {
    const bool is_random = variable.kind == Variable::Kind::kRandom;
    values_.push_back(is_random ? rng_.Below(variable.number) : variable.number);
  }
}

absl::StatusOr<Step> Step::Parse(std::span<const std::string> requests,
                                 std::vector<Variable> variables) {
  Step step(std::move(variables));
  for (const std::string& request : requests) {
    if (const absl::Status status = step.Encode(request); !status.ok()) return status;
  }
  return step;
}

absl::Status Step::Encode(std::string_view request) {
  const std::vector<std::string_view> words = SplitAtSpaces(request);
  if (words.empty()) return absl::InvalidArgumentError("a request without words");
  OutputBuffer out;
  RequestWriter writer(out);
  writer.Begin(words.size());
  for (const std::string_view word : words) {
    if (const absl::Status status = EncodeWord(word, writer, out); !status.ok()) return status;
  }
  encoded_ += out.view();
  ++requests_;
  return absl::OkStatus();
}

absl::Status Step::EncodeWord(std::string_view word, RequestWriter& writer, OutputBuffer& out) {
  std::string text;
  std::vector<Place> places;  // relative to the start of the word, until its length is known
  while (!word.empty()) {
    const size_t open = word.find('{');
    const size_t close = word.find('}', std::min(open, word.size()));
    text += word.substr(0, open);
    if (open == std::string_view::npos) break;
    if (close == std::string_view::npos) return absl::InvalidArgumentError("a { without its }");
    absl::StatusOr<Place> place = ReadPlace(word.substr(open + 1, close - open - 1));
    if (!place.ok()) return place.status();
    place->offset = text.size();
    places.push_back(*place);
    text.append(kDigits, '0');
    word.remove_prefix(close + 1);
  }
  writer.StartWord(text.size());
  for (Place& place : places) {
    place.offset += encoded_.size() + out.size();
    places_.push_back(place);
  }
  out.Append(text);
  writer.EndWord();
  return absl::OkStatus();
}

std::optional<size_t> Step::FindVariable(std::string_view name) const {
  const auto named = [&](const Variable& variable) { return variable.name == name; };
  const auto found = std::find_if(variables_.begin(), variables_.end(), named);
  return found == variables_.end() ? std::nullopt : std::optional(found - variables_.begin());
}

absl::StatusOr<Step::Place> Step::ReadPlace(std::string_view text) const {
  const size_t minus = std::min(text.find('-'), text.size());
  const std::string_view left = text.substr(0, minus);
  const std::string_view right = minus == text.size() ? "0" : text.substr(minus + 1);
  const auto is_number = [](const std::optional<int64_t>& number) {
    return number && *number >= 0;
  };
  if (const auto variable = FindVariable(left)) {
    const auto less = ParseInteger(right);
    if (is_number(less)) {
      return Place{.variable = *variable, .number = -static_cast<uint64_t>(*less)};
    }
  } else if (const auto subtracted = FindVariable(right)) {
    const auto from = ParseInteger(left);
    if (is_number(from)) {
      return Place{
          .variable = *subtracted, .number = static_cast<uint64_t>(*from), .is_subtracted = true};
    }
  }
  return absl::InvalidArgumentError("there is no variable {" + std::string(text) + "}");
}

void Step::AppendTo(std::string& out) {
  const size_t start = out.size();
  out += encoded_;
  for (const Place& place : places_) {
    WriteDigits(place.ValueOf(values_[place.variable]), out.data() + start + place.offset);
  }
  MoveOn();
}

void Step::MoveOn() {
  for (size_t i = 0; i < values_.size(); ++i) {
    const bool is_random = variables_[i].kind == Variable::Kind::kRandom;
    values_[i] = is_random ? rng_.Below(variables_[i].number) : values_[i] + 1;
  }
}

}  // namespace zsetd
