#pragma once

#include <functional>

namespace zsetd {

// How another thread has something done on the thread that runs the commands: a function that is
// called there between two rounds of requests, and again as long as it returns true. Each call is
// to take well under a millisecond, for the clients wait meanwhile.
using Step = std::function<bool()>;
using PostStep = std::function<void(Step)>;

}  // namespace zsetd
