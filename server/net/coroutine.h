#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

namespace zsetd {

// `co_await operation(..., kAwait)` gives the error as a part of the result and throws nothing.
constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

// Runs a coroutine, `make()`, beside all else. What it throws ends the program: that is memory
// which is at an end, amid a request that is then half run.
template <class Executor, class Make>
void Spawn(const Executor& executor, Make make) {
  boost::asio::co_spawn(executor, std::move(make), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
}

}  // namespace zsetd
