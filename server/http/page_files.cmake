# cmake -DFOLDER=... -DOUT=... -P page_files.cmake: writes a .cc file with the files of the page.
set(types html "text/html; charset=utf-8" js "text/javascript; charset=utf-8" css "text/css; charset=utf-8"
    svg "image/svg+xml")
set(arrays "")
set(rows "")
foreach(name index.html page.js page.css icon.svg)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  cmake_path(GET name EXTENSION LAST_ONLY extension)
  string(SUBSTRING ${extension} 1 -1 extension)
  list(FIND types ${extension} at)
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char k_${identifier}[] = {${bytes}};\n")
  if(name STREQUAL index.html)
    set(name "")
  endif()
  string(APPEND rows "    {\"/${name}\", \"${type}\", {k_${identifier}, sizeof k_${identifier}}},\n")
endforeach()
file(WRITE ${OUT} "#include \"server/http/page_files.h\"

namespace zsetd {
namespace {

${arrays}
constexpr PageFile kFiles[] = {
${rows}};

}  // namespace

std::span<const PageFile> PageFiles() { return kFiles; }

}  // namespace zsetd
")
