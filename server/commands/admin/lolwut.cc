// LOLWUT: mountains, painted from a sorted set. Each member is a peak, named after its position,
// and its score is its height. The set is read from the highest score down, so that far peaks come
// first and near ones cover them.
//
//      /\              rank 0
//     /::\  /\         rank 1
//    /:::/\/  \        ...
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/value.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"
#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/engine/call.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {
namespace {

// The bounds of a picture, in characters. Arguments are clamped to them.
constexpr int64_t kLeastColumns = 20, kMostColumns = 500;
constexpr int64_t kLeastRows = 6, kMostRows = 100;

constexpr std::string_view kShades = " .:+";  // by distance
constexpr int64_t kColumnsPerPeak = 5;

struct Canvas {
  Canvas(int64_t columns, int64_t rows) : lines(rows, std::string(columns, ' ')) {}

  // `height` counts from the ground up; points outside the picture are not drawn.
  void Put(int64_t column, int64_t height, char mark) {
    const int64_t width = static_cast<int64_t>(lines.front().size());
    const int64_t line = static_cast<int64_t>(lines.size()) - 1 - height;
    if (column >= 0 && column < width && line >= 0) lines[line][column] = mark;
  }

  std::vector<std::string> lines;
};

// Random peaks, always the same for a picture of this size. Most are low.
SortedSet Peaks(int64_t columns, int64_t rows) {
  Rng rng(static_cast<uint64_t>(columns * kMostRows + rows));
  SortedSet peaks;
  for (int64_t left = columns / kColumnsPerPeak + 1; left > 0; --left) {
    const int64_t highest = 2 + static_cast<int64_t>(rng.Below(rows - 3));
    const auto height = static_cast<double>(2 + rng.Below(highest - 1));
    peaks.Set(IntegerText(static_cast<int64_t>(rng.Below(columns))), height);
  }
  return peaks;
}

void PaintPeak(Canvas& canvas, int64_t column, int64_t height, char shade) {
  for (int64_t up = 0; up < height; ++up) {
    const int64_t half = height - 1 - up;
    for (int64_t at = column - half; at <= column + half + 1; ++at) canvas.Put(at, up, shade);
    canvas.Put(column - half, up, '/');
    canvas.Put(column + half + 1, up, '\\');
  }
}

void PaintSky(Canvas& canvas, int64_t columns, int64_t rows) {
  Rng rng(static_cast<uint64_t>(columns));
  for (int64_t stars = columns / 8; stars > 0; --stars) {
    const int64_t row = rows - 1 - static_cast<int64_t>(rng.Below(rows / 2));
    canvas.Put(static_cast<int64_t>(rng.Below(columns)), row, '.');
  }
  canvas.Put(columns * 4 / 5, rows - 1, '_');
  canvas.Put(columns * 4 / 5 - 1, rows - 2, '(');
  canvas.Put(columns * 4 / 5, rows - 2, '_');
  canvas.Put(columns * 4 / 5 + 1, rows - 2, ')');
}

std::string Landscape(int64_t columns, int64_t rows) {
  const SortedSet peaks = Peaks(columns, rows);
  Canvas canvas(columns, rows);
  PaintSky(canvas, columns, rows);
  size_t nearer = peaks.size();
  for (auto at = peaks.At(peaks.size() - 1); at.valid(); at.Previous()) {
    const Element peak = at.element();
    --nearer;
    const char shade = kShades[nearer * kShades.size() / peaks.size()];
    PaintPeak(canvas, *ParseInteger(peak.member), static_cast<int64_t>(peak.score), shade);
  }
  std::string picture;
  for (const std::string& line : canvas.lines) picture += line + "\n";
  return picture + std::string(columns, '~') + "\n";
}

// There is only one picture, so VERSION is parsed but has no effect.
void Lolwut(Call& call) {
  if (call.args.left() > 1 && call.args.Take("version")) call.args.Integer();
  const int64_t columns = call.args.AtEnd() ? 66 : call.args.Integer();
  const int64_t rows = call.args.AtEnd() ? 14 : call.args.Integer();
  if (call.Refused()) return;
  std::string picture = Landscape(std::clamp(columns, kLeastColumns, kMostColumns),
                                  std::clamp(rows, kLeastRows, kMostRows));
  picture += "\nzsetd " ZSETD_VERSION ", Redis ver. " + std::string(kRedisVersion) + "\n";
  call.reply.Verbatim("txt", picture);
}

constexpr Command kCommands[] = {
    {.name = "lolwut",
     .run = Lolwut,
     .arity = -1,
     .flags = kReadOnly | kFast,
     .group = CommandGroup::kServer,
     .since = "5.0.0",
     .usage = "[VERSION version] [columns] [rows]",
     .summary = "Draws a picture and prints the version.",
     .cost = "O(N) for N characters",
     .categories = ""},
};

}  // namespace

std::span<const Command> LolwutCommands() { return kCommands; }

}  // namespace zsetd
