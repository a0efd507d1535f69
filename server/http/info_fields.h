#pragma once

#include <map>
#include <optional>
#include <string_view>

namespace zsetd {

// The fields of INFO by name. Names and values are views into the text.
using InfoFields = std::map<std::string_view, std::string_view>;

// Returns the fields of a text of INFO, which may have several sections.
InfoFields FieldsOf(std::string_view info);

// Returns the value of a field, or an empty text if it does not exist.
std::string_view FieldOf(const InfoFields& fields, std::string_view name);

// Returns a value as a number, or nullopt if it is not a number. The words ok and up count as 1,
// and err, fail and down as 0.
std::optional<double> FigureOf(std::string_view value);

// Returns the part `name` of a value such as "keys=1,expires=0": a text that may be empty, or a
// number.
std::string_view PartOf(std::string_view value, std::string_view name);
double NumberIn(std::string_view value, std::string_view name);

}  // namespace zsetd
