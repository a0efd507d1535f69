#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {

// Writes the text of INFO: sections with a title, a field a line.
class InfoWriter {
 public:
  void Section(std::string_view title);

  void Add(std::string_view name, std::string_view value);
  void Add(std::string_view name, std::integral auto value) { Add(name, std::to_string(value)); }

  // With this number of digits after the point.
  void AddFraction(std::string_view name, double value, int digits = 2);

  // The bytes, and a second, human-readable field, NAME_human.
  void AddSize(std::string_view name, uint64_t bytes);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The number with this many digits after the point.
std::string FractionText(double value, int digits);

}  // namespace zsetd
