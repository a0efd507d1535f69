#include "server/commands/zset/zset_add_request.h"

#include <utility>

#include "protocol/text/number_text.h"
#include "server/commands/common/expiry_option.h"

namespace zsetd {
namespace {

bool TakeFlag(ArgReader& args, std::string_view name, bool& flag) {
  if (!args.Take(name)) return false;
  flag = true;
  return true;
}

bool TakeRuleOption(ArgReader& args, AddRequest& request) {
  AddRule& rule = request.rule;
  return TakeFlag(args, "nx", rule.only_new) || TakeFlag(args, "xx", rule.only_existing) ||
         TakeFlag(args, "gt", rule.only_greater) || TakeFlag(args, "lt", rule.only_less) ||
         TakeFlag(args, "ch", request.count_changed);
}

// The options that are allowed before the pairs and after them.
class SharedOptions {
 public:
  SharedOptions(Call& call, AddRequest& request) : call_(call), request_(request) {}

  // Whether the next argument was one; it is taken then.
  bool Take() { return TakeIncrement() || TakeExpiry(); }

  // To be called when everything else is valid.
  std::optional<Millis> Deadline() {
    if (!expiry_ || !call_.args.ok()) return std::nullopt;
    return DeadlineOf(call_, *expiry_);
  }

 private:
  bool TakeIncrement() {
    if (!call_.args.Take("incr")) return false;
    if (request_.rule.increment && after_pairs()) call_.args.Refuse(kSyntaxError);
    request_.rule.increment = true;
    return true;
  }

  bool TakeExpiry() {
    const std::optional<ExpiryOption> option = TakeExpiryOption(call_.args);
    if (!option && !call_.args.Take("keepttl")) return false;
    if (std::exchange(expiry_given_, true)) call_.args.Refuse(kSyntaxError);
    expiry_ = option;
    return true;
  }

  bool after_pairs() const { return !request_.pairs.empty(); }

  Call& call_;
  AddRequest& request_;
  std::optional<ExpiryOption> expiry_;  // none for KEEPTTL
  bool expiry_given_ = false;
};

void TakePairs(ArgReader& args, std::vector<Element>& pairs) {
  while (const std::optional<double> score = ParseDouble(args.Peek())) {
    args.Word();
    const std::string_view member = args.Word();
    if (!args.ok()) return;
    pairs.push_back({member, *score});
  }
}

void CheckRule(ArgReader& args, const AddRequest& request) {
  const AddRule& rule = request.rule;
  if (rule.only_new && rule.only_existing) {
    args.Refuse("ERR XX and NX options at the same time are not compatible");
  }
  if ((rule.only_greater && rule.only_new) || (rule.only_less && rule.only_new) ||
      (rule.only_greater && rule.only_less)) {
    args.Refuse("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  if (rule.increment && request.pairs.size() + args.left() / 2 > 1) {
    args.Refuse("ERR INCR option supports a single increment-element pair");
  }
}

// The argument in place of a score is neither a number nor an option. Redis checks the number of
// arguments first, then at the options, then at the scores.
void RefuseScore(ArgReader& args, const AddRequest& request) {
  if (args.AtEnd() || args.left() % 2 != 0) args.Refuse(kSyntaxError);
  CheckRule(args, request);
  args.Refuse(kNotAFloat);
}

}  // namespace

AddRequest TakeAddRequest(Call& call) {
  ArgReader& args = call.args;
  AddRequest request;
  SharedOptions shared(call, request);
  while (args.ok() && (TakeRuleOption(args, request) || shared.Take())) {
  }
  TakePairs(args, request.pairs);
  if (request.pairs.empty() || (!args.AtEnd() && !shared.Take())) RefuseScore(args, request);
  while (args.ok() && !args.AtEnd()) {
    if (!shared.Take()) args.Refuse(kSyntaxError);
  }
  CheckRule(args, request);
  request.deadline = shared.Deadline();
  return request;
}

}  // namespace zsetd
