#include "server/commands/diagnostics/info_writer.h"

#include <cstdio>

#include "server/engine/support/size_text.h"

namespace zsetd {

void InfoWriter::Section(std::string_view title) {
  if (!text_.empty()) text_ += "\r\n";
  text_.append("# ").append(title).append("\r\n");
}

void InfoWriter::Add(std::string_view name, std::string_view value) {
  text_.append(name).append(":").append(value).append("\r\n");
}

void InfoWriter::AddFraction(std::string_view name, double value, int digits) {
  Add(name, FractionText(value, digits));
}

void InfoWriter::AddSize(std::string_view name, uint64_t bytes) {
  Add(name, bytes);
  Add(std::string(name) + "_human", SizeText(bytes));
}

std::string FractionText(double value, int digits) {
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return std::string(text, std::min<size_t>(size, sizeof(text) - 1));
}

}  // namespace zsetd
