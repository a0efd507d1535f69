#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {

// Writes the text of INFO: sections with a title, and one field per line.
class InfoWriter {
 public:
  void Section(std::string_view title);

  void Add(std::string_view name, std::string_view value);
  void Add(std::string_view name, std::integral auto value) { Add(name, std::to_string(value)); }

  // Writes `digits` digits after the decimal point.
  void AddFraction(std::string_view name, double value, int digits = 2);

  // Writes the bytes, and a second, human-readable field, NAME_human.
  void AddSize(std::string_view name, uint64_t bytes);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Returns the number with this many digits after the decimal point.
std::string FractionText(double value, int digits);

}  // namespace zsetd
