#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/geo/geo_cell.h"
#include "core/geo/geo_point.h"

namespace zsetd {

// An area within a radius of a place, or within a box around it. In metres.
struct GeoCircle {
  double radius = 0;
};
struct GeoBox {
  double width = 0;  // from west to east
  double height = 0;
};
struct GeoArea {
  GeoPoint center;
  std::variant<GeoCircle, GeoBox> shape;

  // The distance of the point from the center; nullopt if the point is outside of the area.
  std::optional<double> DistanceTo(const GeoPoint& point) const;
};

// Cells that cover the area: the cell around its center first, then those of its eight neighbours
// that the area may reach. Each cell occurs once.
std::vector<GeoCell> CellsOf(const GeoArea& area);

}  // namespace zsetd
