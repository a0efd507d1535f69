#pragma once

#include <span>
#include <string_view>

namespace zsetd {

// A file of server/http/page, which the build embeds in the program (page_files.cmake).
struct PageFile {
  std::string_view path;  // "/page.js"
  std::string_view content_type;
  std::string_view bytes;
};

std::span<const PageFile> PageFiles();

}  // namespace zsetd
