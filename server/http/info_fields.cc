#include "server/http/info_fields.h"

#include "protocol/text/number_text.h"
#include "server/engine/support/split.h"

namespace zsetd {

InfoFields FieldsOf(std::string_view info) {
  InfoFields fields;
  for (std::string_view line : Split(info, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('#')) continue;
    fields.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return fields;
}

std::string_view FieldOf(const InfoFields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : found->second;
}

std::optional<double> FigureOf(std::string_view value) {
  if (value == "ok" || value == "up") return 1;
  if (value == "err" || value == "fail" || value == "down") return 0;
  return ParseDouble(value);
}

std::string_view PartOf(std::string_view value, std::string_view name) {
  for (const std::string_view part : Split(value, ',')) {
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=') {
      return part.substr(name.size() + 1);
    }
  }
  return {};
}

double NumberIn(std::string_view value, std::string_view name) {
  return FigureOf(PartOf(value, name)).value_or(0);
}

}  // namespace zsetd
