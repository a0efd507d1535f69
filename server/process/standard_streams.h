#pragma once

namespace zsetd {

// Opens /dev/null for each standard stream that the parent process has closed. Otherwise the next
// opened files would get the numbers of the streams: error messages would go into them, and a
// daemon would close them. Must be called before any file is opened.
void OpenMissingStreams();

}  // namespace zsetd
