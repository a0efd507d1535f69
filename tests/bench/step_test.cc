#include "bench/load/step.h"

#include <gtest/gtest.h>

#include <set>

namespace zsetd {
namespace {

using Kind = Variable::Kind;

absl::StatusOr<Step> Parse(std::vector<std::string> requests, std::vector<Variable> variables) {
  return Step::Parse(requests, std::move(variables));
}

std::string Next(Step& step) {
  std::string out;
  step.AppendTo(out);
  return out;
}

TEST(Step, IsEncodedAsAMultibulkRequest) {
  auto step = Parse({"GET key", "PING"}, {});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(Next(*step), "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(step->requests(), 2u);
}

TEST(Step, SharesAndAdvancesAVariable) {
  auto step = Parse({"ZADD v {at} a:{at}b", "ZREM v ({at-60}"}, {{"at", Kind::kCounter, 1000}});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(Next(*step),
            "*4\r\n$4\r\nZADD\r\n$1\r\nv\r\n$12\r\n000000001000\r\n$15\r\na:000000001000b\r\n"
            "*3\r\n$4\r\nZREM\r\n$1\r\nv\r\n$13\r\n(000000000940\r\n");
  EXPECT_NE(Next(*step).find("a:000000001001b"), std::string::npos);
}

TEST(Step, CountsDownFromANumber) {
  auto step = Parse({"DEL {5000-at}"}, {{"at", Kind::kCounter, 1000}});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(Next(*step), "*2\r\n$3\r\nDEL\r\n$12\r\n000000004000\r\n");
  EXPECT_EQ(Next(*step), "*2\r\n$3\r\nDEL\r\n$12\r\n000000003999\r\n");
}

TEST(Step, DrawsEveryNumberBelowTheBound) {
  auto step = Parse({"{n}"}, {{"n", Kind::kRandom, 3}});
  ASSERT_TRUE(step.ok()) << step.status();
  std::set<std::string> found;
  for (int i = 0; i < 1000; ++i) found.insert(Next(*step));
  EXPECT_EQ(found,
            (std::set<std::string>{"*1\r\n$12\r\n000000000000\r\n", "*1\r\n$12\r\n000000000001\r\n",
                                   "*1\r\n$12\r\n000000000002\r\n"}));
}

TEST(Step, RefusesRequestsThatItCannotSend) {
  for (const char* request :
       {"", " ", "GET {key}", "GET {at", "GET {at-x}", "GET {at--1}", "GET {-at}", "GET {at-at}"}) {
    EXPECT_FALSE(Parse({request}, {{"at", Kind::kCounter, 1000}}).ok()) << request;
  }
}

}  // namespace
}  // namespace zsetd
