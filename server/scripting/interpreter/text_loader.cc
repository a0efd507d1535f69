#include "server/scripting/interpreter/text_loader.h"

#include <algorithm>
#include <cstddef>

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 16u << 10;

struct Source {
  std::string_view rest;
  const std::function<void(lua_State*)>& check;
};

const char* NextPiece(lua_State* lua, void* data, size_t* size) {
  Source& source = *static_cast<Source*>(data);
  source.check(lua);
  const std::string_view piece = source.rest.substr(0, kPieceBytes);
  source.rest.remove_prefix(piece.size());
  *size = piece.size();
  return piece.empty() ? nullptr : piece.data();
}

}  // namespace

int LoadText(lua_State* lua, std::string_view text, const char* chunk_name,
             const std::function<void(lua_State*)>& check) {
  Source source = {text, check};
  return lua_loadx(lua, NextPiece, &source, chunk_name, "t");
}

}  // namespace zsetd
