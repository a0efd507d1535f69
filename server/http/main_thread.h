#pragma once

#include <functional>

namespace zsetd {

// Posts a function to the thread of the commands. It is called there between two rounds of
// requests, and again as long as it returns true. Each call must take well under a millisecond,
// because clients wait for it.
using Step = std::function<bool()>;
using PostStep = std::function<void(Step)>;

}  // namespace zsetd
