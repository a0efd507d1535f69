#include "tests/propagation/random_requests.h"

#include <utility>

#include "tests/propagation/random_words.h"

namespace zsetd {

using Words = RandomRequests::Words;

RandomRequests::RandomRequests(uint64_t seed, Source source)
    : rng_(seed), source_(std::move(source)) {
  AddStrings();
  AddBits();
  AddHyperLogLogs();
  AddLists();
  AddSets();
  AddHashes();
  AddSortedSets();
  AddGeo();
  AddStreams();
  AddGroups();
  AddKeys();
  AddServer();
  for (const auto& [name, each] : cases_) names_.push_back(name);
}

std::vector<std::string> RandomRequests::Names() const { return names_; }

Words RandomRequests::Of(const std::string& row) { return cases_.at(row)(); }

// Rows that remove all data are rare, and rows that create data are frequent.
std::string RandomRequests::AnyName() {
  if (Chance(3))
    return Pick({"mset", "rpush", "sadd", "hset", "zadd", "geoadd", "setbit", "pfadd", "copy",
                 "xadd", "xgroup|create", "xreadgroup"});
  const std::string& name = names_[Below(names_.size())];
  const bool takes_all = name == "flushall" || name == "flushdb" || name == "swapdb";
  return takes_all && !Chance(6) ? AnyName() : name;
}

Words RandomRequests::Any() {
  if (Chance(20)) return {Pick({"GET", "TTL", "ZCARD"}), AnyKey()};
  return Of(AnyName());
}

Words RandomRequests::Blocking() {
  return Of(Pick({"blpop", "brpop", "blmove", "brpoplpush", "blmpop", "bzpopmin", "bzpopmax",
                  "bzmpop", "bzpopbyscore", "bzmovebyscore", "xreadgroup"}));
}

std::string RandomRequests::Key(char type, size_t count) {
  if (Chance(25)) return AnyKey();
  return type + Number(count);
}

std::string RandomRequests::AnyKey() { return std::string(1, "sbplthzgx"[Below(9)]) + Number(3); }

std::string RandomRequests::Value() {
  switch (Below(5)) {
    case 0:
      return Integer();
    case 1:
      return Float();
    case 2:
      return std::string(Below(90), static_cast<char>('a' + Below(26)));
    case 3:
      return std::string("\0\r\n\xff", 4) + Number(10);
    default:
      return "v" + Number(20);
  }
}

std::string RandomRequests::Member() {
  return Chance(3) ? Number(6) : std::string(1, static_cast<char>('a' + Below(10)));
}

std::string RandomRequests::Payload() {
  return std::string(Below(Chance(6) ? 600 : 12), static_cast<char>('A' + Below(26)));
}

std::string RandomRequests::Integer() {
  return (Chance(3) ? "-" : "") + std::to_string(1 + Below(1000));
}

std::string RandomRequests::Float() {
  constexpr const char* kOdd[] = {"0.1", "3.3333333333333335", "1e17", "-2.5e-7", "1e300"};
  if (Chance(2)) return kOdd[Below(std::size(kOdd))];
  return Integer() + "." + Number(1000);
}

std::string RandomRequests::Score() {
  if (Chance(15)) return Pick({"inf", "-inf", "-0", "1e308", "5e-324"});
  return Chance(2) ? Integer() : Float();
}

std::string RandomRequests::Timeout() { return "0.0" + std::to_string(1 + Below(9)); }

// Most entries have the time of cases_["xadd"], and small sequence numbers.
std::string RandomRequests::StreamId() {
  if (!Chance(4)) return "99999999999999-" + Number(40);
  return std::to_string(source_.now().count() - static_cast<int64_t>(Below(500))) + "-" + Number(3);
}

Words RandomRequests::Many(const std::function<Words()>& one, size_t most) {
  Words words;
  for (size_t left = 1 + Below(most); left > 0; --left) words = words + one();
  return words;
}

Words RandomRequests::Options(Words words, const std::vector<Words>& options) {
  for (const Words& option : options) {
    if (Chance(3)) words = words + option;
  }
  return words;
}

Words RandomRequests::Expiry() {
  const int64_t now = source_.now().count();
  switch (Below(5)) {
    case 0:
      return {"EX", std::to_string(1 + Below(3))};
    case 1:
      return {"PX", std::to_string(1 + Below(900))};
    case 2:
      return {"EXAT", std::to_string(now / 1000 + 2 - static_cast<int64_t>(Below(4)))};
    case 3:
      return {"PXAT", std::to_string(now + 300 - static_cast<int64_t>(Below(400)))};
    default:
      return {"KEEPTTL"};
  }
}

Words RandomRequests::Capped() {
  return Options({"MAXLEN", std::to_string(1 + Below(9))}, {{"KEEP", Pick({"HIGHEST", "LOWEST"})}});
}

std::string RandomRequests::References() { return Pick({"KEEPREF", "DELREF", "ACKED"}); }

void RandomRequests::AddStreams() {
  const auto key = [this] { return Key('x', 2); };
  const auto trim = [this]() -> Words {
    const std::string mark = Pick({"=", "~"});
    const Words limit = mark == "~" && Chance(2) ? Words{"LIMIT", Number(4)} : Words{};
    const Words references = Chance(3) ? Words{References()} : Words{};
    return (Chance(2) ? Words{"MAXLEN", mark, Number(30)} : Words{"MINID", mark, StreamId()}) +
           limit + references;
  };
  const auto fields = [this] { return Words{Pick({"f", "g"}), Value()}; };
  cases_["xadd"] = [=, this] {
    const std::string id = Chance(9) ? StreamId() : Pick({"*", "99999999999999-*"});
    const Words mark = id != "*"   ? Words{}
                       : Chance(4) ? Words{"IDMP", Pick({"p", "q"}), Number(9)}
                       : Chance(4) ? Words{"IDMPAUTO", "p"}
                                   : Words{};
    return Options({"XADD", key()}, {{"NOMKSTREAM"}, trim()}) + mark + Words{id} + Many(fields, 3);
  };
  cases_["xtrim"] = [=] { return Words{"XTRIM", key()} + trim(); };
  cases_["xdel"] = [=, this] {
    return Words{"XDEL", key()} + Many([this] { return Words{StreamId()}; }, 5);
  };
  cases_["xcfgset"] = [=, this] {
    return Words{"XCFGSET", key()} +
           (Chance(2) ? Words{"IDMP-MAXSIZE", "5"} : Words{"IDMP-DURATION", "1"});
  };
  cases_["xidmprecord"] = [=, this] {
    return Words{"XIDMPRECORD", key(), Pick({"p", "q"}), Number(9), StreamId()};
  };
  cases_["xdelex"] = [=, this] {
    return Elements(
        Options({"XDELEX", key()}, {{References()}}), "IDS", [this] { return StreamId(); }, 5);
  };
  cases_["xsetid"] = [=, this] {
    return Options({"XSETID", key(), StreamId()},
                   {{"ENTRIESADDED", Number(100)}, {"MAXDELETEDID", StreamId()}});
  };
}

void RandomRequests::AddGroups() {
  const auto group_of = [this] { return Words{Key('x', 2), Pick({"g", "g", "h"})}; };
  const auto consumer = [this] { return Pick({"a", "b", "c"}); };
  const auto ids = [this] { return Many([this] { return Words{StreamId()}; }, 5); };
  cases_["xgroup|create"] = [=, this] {
    return Options(Words{"XGROUP", "CREATE"} + group_of() + Words{Pick({"$", "0"})},
                   {{"MKSTREAM"}, {"ENTRIESREAD", Number(5)}});
  };
  cases_["xgroup|setid"] = [=, this] {
    return Words{"XGROUP", "SETID"} + group_of() + Words{Chance(2) ? "$" : StreamId()};
  };
  cases_["xgroup|destroy"] = [=] { return Words{"XGROUP", "DESTROY"} + group_of(); };
  cases_["xgroup|createconsumer"] = [=] {
    return Words{"XGROUP", "CREATECONSUMER"} + group_of() + Words{consumer()};
  };
  cases_["xgroup|delconsumer"] = [=] {
    return Words{"XGROUP", "DELCONSUMER"} + group_of() + Words{consumer()};
  };
  cases_["xreadgroup"] = [=, this] {
    const Words where = group_of();
    const Words read = {"XREADGROUP", "GROUP", where[1], consumer()};
    return Options(read,
                   {{"NOACK"}, {"COUNT", Number(9)}, {"BLOCK", "50"}, {"CLAIM", Number(20)}}) +
           Words{"STREAMS", where[0], Chance(4) ? "0" : ">"};
  };
  cases_["xack"] = [=] { return Words{"XACK"} + group_of() + ids(); };
  cases_["xackdel"] = [=, this] {
    return Elements(
        Options(Words{"XACKDEL"} + group_of(), {{References()}}), "IDS",
        [this] { return StreamId(); }, 5);
  };
  cases_["xnack"] = [=, this] {
    return Options(Elements(
                       Words{"XNACK"} + group_of() + Words{Pick({"SILENT", "FAIL", "FATAL"})},
                       "IDS", [this] { return StreamId(); }, 5),
                   {{"RETRYCOUNT", Number(5)}, {"FORCE"}});
  };
  cases_["xclaim"] = [=, this] {
    return Options(Words{"XCLAIM"} + group_of() + Words{consumer(), Pick({"0", "0", "10"})} + ids(),
                   {{"FORCE"}, {"JUSTID"}, {"RETRYCOUNT", Number(5)}, {"LASTID", StreamId()}});
  };
  cases_["xautoclaim"] = [=, this] {
    return Options(Words{"XAUTOCLAIM"} + group_of() + Words{consumer(), Pick({"0", "10"}), "-"},
                   {{"JUSTID"}, {"COUNT", "3"}});
  };
}

void RandomRequests::AddStrings() {
  const auto key = [this] { return Key('s', 5); };
  cases_["append"] = [=, this] { return Words{"APPEND", key(), Value()}; };
  cases_["decr"] = [=] { return Words{"DECR", key()}; };
  cases_["decrby"] = [=, this] { return Words{"DECRBY", key(), Integer()}; };
  cases_["incr"] = [=] { return Words{"INCR", key()}; };
  cases_["incrby"] = [=, this] { return Words{"INCRBY", key(), Integer()}; };
  cases_["incrbyfloat"] = [=, this] { return Words{"INCRBYFLOAT", key(), Float()}; };
  cases_["getdel"] = [=] { return Words{"GETDEL", key()}; };
  cases_["getex"] = [=, this] {
    Words option = Expiry();
    if (option[0] == "KEEPTTL") option = {"PERSIST"};
    return Words{"GETEX", key()} + option;
  };
  cases_["getset"] = [=, this] { return Words{"GETSET", key(), Value()}; };
  cases_["mset"] = [=, this] {
    return Words{"MSET"} + Many([=, this] { return Words{key(), Value()}; }, 4);
  };
  cases_["msetnx"] = [=, this] {
    const auto maybe_new = [=, this] {
      return Below(2) == 0 ? key() : "new" + std::to_string(Below(10000));
    };
    return Words{"MSETNX"} + Many([=, this] { return Words{maybe_new(), Value()}; }, 2);
  };
  cases_["psetex"] = [=, this] {
    return Words{"PSETEX", key(), std::to_string(1 + Below(900)), Value()};
  };
  cases_["set"] = [=, this] {
    return Options({"SET", key(), Value()}, {Expiry(), {Pick({"NX", "XX"})}, {"GET"}});
  };
  cases_["setex"] = [=, this] {
    return Words{"SETEX", key(), std::to_string(1 + Below(3)), Value()};
  };
  cases_["setnx"] = [=, this] { return Words{"SETNX", key(), Value()}; };
  cases_["setrange"] = [=, this] { return Words{"SETRANGE", key(), Number(40), Value()}; };
}

void RandomRequests::AddBits() {
  const auto key = [this] { return Key('b', 3); };
  cases_["setbit"] = [=, this] { return Words{"SETBIT", key(), Number(300), Number(2)}; };
  cases_["bitfield"] = [=, this] {
    return Words{"BITFIELD", key()} + Many(
                                          [this] {
                                            return Words{"OVERFLOW",
                                                         Pick({"WRAP", "SAT", "FAIL"}),
                                                         Pick({"INCRBY", "SET"}),
                                                         Pick({"u8", "i5", "i64", "u13"}),
                                                         Number(100),
                                                         Integer()};
                                          },
                                          3);
  };
  cases_["bitop"] = [=, this] {
    const std::string operation =
        Pick({"AND", "OR", "XOR", "NOT", "ONE", "DIFF", "DIFF1", "ANDOR"});
    const Words sources = operation == "NOT" ? Words{key()} : Words{key(), Key('s', 5), key()};
    return Words{"BITOP", operation, key()} + sources;
  };
}

// PFCOUNT changes the estimate that the key holds.
void RandomRequests::AddHyperLogLogs() {
  const auto key = [this] { return Key('p', 4); };
  const auto elements = [this] { return Many([this] { return Words{Number(5000)}; }, 40); };
  cases_["pfadd"] = [=] { return Words{"PFADD", key()} + elements(); };
  cases_["pfcount"] = [=, this] { return Options({"PFCOUNT", key()}, {{key()}}); };
  cases_["pfmerge"] = [=, this] { return Options({"PFMERGE", key()}, {{key()}, {key()}}); };
  cases_["pfdebug"] = [=, this] {
    return Words{"PFDEBUG", Pick({"GETREG", "TODENSE", "ENCODING", "DECODE"}), key()};
  };
}

void RandomRequests::AddLists() {
  const auto key = [this] { return Key('l', 4); };
  const auto end = [this] { return Pick({"LEFT", "RIGHT"}); };
  const auto values = [this] { return Many([this] { return Words{Value()}; }, 6); };
  for (const std::string name : {"lpush", "rpush", "lpushx", "rpushx"}) {
    cases_[name] = [=] { return Words{Upper(name), key()} + values(); };
  }
  for (const std::string name : {"lpop", "rpop"}) {
    cases_[name] = [=, this] { return Options({Upper(name), key()}, {{Number(4)}}); };
  }
  cases_["linsert"] = [=, this] {
    return Words{"LINSERT", key(), Pick({"BEFORE", "AFTER"}), Value(), Value()};
  };
  cases_["lrem"] = [=, this] { return Words{"LREM", key(), Pick({"0", "1", "-1"}), Value()}; };
  cases_["lset"] = [=, this] { return Words{"LSET", key(), Pick({"0", "-1", "2"}), Value()}; };
  cases_["ltrim"] = [=, this] {
    return Words{"LTRIM", key(), Pick({"0", "1"}), Pick({"-1", "-2", "4"})};
  };
  cases_["lmove"] = [=] { return Words{"LMOVE", key(), key(), end(), end()}; };
  cases_["rpoplpush"] = [=] { return Words{"RPOPLPUSH", key(), key()}; };
  cases_["blmove"] = [=, this] { return Words{"BLMOVE", key(), key(), end(), end(), Timeout()}; };
  cases_["brpoplpush"] = [=, this] { return Words{"BRPOPLPUSH", key(), key(), Timeout()}; };
  for (const std::string name : {"blpop", "brpop"}) {
    cases_[name] = [=, this] { return Words{Upper(name), key(), key(), Timeout()}; };
  }
  cases_["lmpop"] = [=, this] {
    return Options({"LMPOP", "2", key(), key(), end()}, {{"COUNT", std::to_string(1 + Below(4))}});
  };
  cases_["blmpop"] = [=, this] {
    return Options({"BLMPOP", Timeout(), "2", key(), key(), end()},
                   {{"COUNT", std::to_string(1 + Below(4))}});
  };
}

void RandomRequests::AddSets() {
  const auto key = [this] { return Key('t', 4); };
  const auto members = [this] { return Many([this] { return Words{Member()}; }, 6); };
  cases_["sadd"] = [=] { return Words{"SADD", key()} + members(); };
  cases_["srem"] = [=] { return Words{"SREM", key()} + members(); };
  cases_["smove"] = [=, this] { return Words{"SMOVE", key(), key(), Member()}; };
  cases_["spop"] = [=, this] { return Options({"SPOP", key()}, {{Number(6)}}); };
  for (const std::string name : {"sdiffstore", "sinterstore", "sunionstore"}) {
    cases_[name] = [=] { return Words{Upper(name), key(), key(), key()}; };
  }
}

void RandomRequests::AddHashes() {
  const auto key = [this] { return Key('h', 4); };
  const auto pairs = [this] { return Many([this] { return Words{Member(), Value()}; }, 6); };
  cases_["hset"] = [=] { return Words{"HSET", key()} + pairs(); };
  cases_["hmset"] = [=] { return Words{"HMSET", key()} + pairs(); };
  cases_["hsetnx"] = [=, this] { return Words{"HSETNX", key(), Member(), Value()}; };
  cases_["hdel"] = [=, this] { return Words{"HDEL", key(), Member(), Member()}; };
  cases_["hincrby"] = [=, this] { return Words{"HINCRBY", key(), "n" + Number(3), Integer()}; };
  cases_["hincrbyfloat"] = [=, this] {
    return Words{"HINCRBYFLOAT", key(), Chance(2) ? "n" + Number(3) : Member(), Float()};
  };
  const auto field = [this] { return Chance(4) ? "n" + Number(3) : Member(); };
  AddExpiry("h", "FIELDS", key, field);
  cases_["hgetdel"] = [=, this] { return Elements({"HGETDEL", key()}, "FIELDS", field); };
  cases_["hgetex"] = [=, this] {
    Words option = Expiry();
    if (option[0] == "KEEPTTL") option = {"PERSIST"};
    return Elements(Options({"HGETEX", key()}, {option}), "FIELDS", field, 6);
  };
  cases_["hsetex"] = [=, this] {
    const Words request = Options({"HSETEX", key()}, {{Pick({"FNX", "FXX"})}, Expiry()});
    const Words values = pairs();
    return request + Words{"FIELDS", std::to_string(values.size() / 2)} + values;
  };
}

// Appends up to `most` elements, preceded by their number.
Words RandomRequests::Elements(Words request, const std::string& keyword,
                               const std::function<std::string()>& element, size_t most) {
  const size_t count = 1 + Below(most);
  request = request + Words{keyword, std::to_string(count)};
  for (size_t left = count; left > 0; --left) request.push_back(element());
  return request;
}

// Adds the commands that set deadlines of elements. Some of the deadlines pass.
void RandomRequests::AddExpiry(const std::string& letter, const std::string& keyword,
                               const std::function<std::string()>& key,
                               const std::function<std::string()>& element) {
  for (const std::string unit : {"", "p"}) {
    for (const std::string at : {"", "at"}) {
      const std::string name = letter + unit + "expire" + at;
      cases_[name] = [=, this] {
        const int64_t origin = at.empty() ? 0 : source_.now().count();
        const int64_t ahead =
            Chance(4) ? -1 : static_cast<int64_t>(Below(Chance(3) ? 500 : 100'000));
        const int64_t amount = std::max<int64_t>((origin + ahead) / (unit.empty() ? 1000 : 1), 0);
        const Words request = Options({Upper(name), key(), std::to_string(amount)},
                                      {{Pick({"NX", "XX", "GT", "LT"})}});
        return Elements(request, keyword, element);
      };
    }
  }
  cases_[letter + "persist"] = [=, this] {
    return Elements({Upper(letter + "persist"), key()}, keyword, element, 20);
  };
}

Words RandomRequests::Place() {
  return {std::to_string(static_cast<int>(Below(360)) - 180) + ".123456",
          std::to_string(static_cast<int>(Below(160)) - 80) + ".654321"};
}

Words RandomRequests::Area() {
  Words area = Words{"FROMLONLAT"} + Place();
  if (Chance(2)) return area + Words{"BYRADIUS", std::to_string(1000 + Below(9000)), "km"};
  return area + Words{"BYBOX", "9000", "7000", "km"};
}

void RandomRequests::AddGeo() {
  const auto key = [this] { return Key('g', 3); };
  cases_["geoadd"] = [=, this] {
    return Options({"GEOADD", key()}, {{Pick({"NX", "XX"})}, {"CH"}, Expiry()}) +
           Many([this] { return Place() + Words{Member()}; }, 5);
  };
  cases_["geosearchstore"] = [=, this] {
    return Options(Words{"GEOSEARCHSTORE", key(), key()} + Area(),
                   {{"COUNT", "3"}, {Pick({"ASC", "DESC"})}, {"STOREDIST"}});
  };
  const auto destination = [=, this] { return Words{Pick({"STORE", "STOREDIST"}), key()}; };
  cases_["georadius"] = [=, this] {
    return Words{"GEORADIUS", key()} + Place() + Words{"8000", "km"} + destination();
  };
  cases_["georadiusbymember"] = [=, this] {
    return Words{"GEORADIUSBYMEMBER", key(), Member(), "8000", "km"} + destination();
  };
}

Words RandomRequests::TimeFor(const std::string& row) {
  const bool in_seconds = row == "expire" || row == "expireat";
  int64_t time = static_cast<int64_t>(Below(in_seconds ? 3 : 1500)) - (Chance(8) ? 2000 : 0);
  if (row.ends_with("at")) time += source_.now().count() / (in_seconds ? 1000 : 1);
  return Options({std::to_string(time)}, {{Pick({"NX", "XX", "GT", "LT"})}});
}

void RandomRequests::AddKeys() {
  for (const std::string name : {"del", "unlink"}) {
    cases_[name] = [=, this] { return Words{Upper(name), AnyKey(), AnyKey()}; };
  }
  for (const std::string name : {"expire", "pexpire", "expireat", "pexpireat"}) {
    cases_[name] = [=, this] { return Words{Upper(name), AnyKey()} + TimeFor(name); };
  }
  cases_["persist"] = [this] { return Words{"PERSIST", AnyKey()}; };
  cases_["rename"] = [this] {
    const char type = "sbplthzg"[Below(8)];
    return Words{"RENAME", Key(type, 3), Key(type, 3)};
  };
  cases_["renamenx"] = [this] {
    const char type = "sbplthzg"[Below(8)];
    return Words{"RENAMENX", Key(type, 3), Key(type, 12)};  // most of these do not exist
  };
  cases_["move"] = [this] { return Words{"MOVE", AnyKey(), Number(3)}; };
  cases_["copy"] = [this] {
    return Options({"COPY", AnyKey(), AnyKey()}, {{"DB", Number(3)}, {"REPLACE"}});
  };
  cases_["migrate"] = [this] {
    if (Chance(2)) return Words{"MIGRATE", "h", "1", AnyKey(), "0", "100"};
    const Words request = Options({"MIGRATE", "h", "1", "", "0", "100"}, {{"COPY"}, {"REPLACE"}});
    return request + Words{"KEYS"} + Many([this] { return Words{AnyKey()}; }, 3);
  };
  cases_["restore"] = [this] {
    const std::string from = AnyKey();
    const int64_t now = source_.now().count();
    Words request = {"RESTORE", from.substr(0, 1) + Number(3)};
    if (Chance(3)) {
      const std::string until = std::to_string(now + 500 - static_cast<int64_t>(Below(700)));
      request = request + Words{until, source_.dump(from), "ABSTTL"};
    } else {
      request =
          request + Words{Chance(2) ? "0" : std::to_string(1 + Below(900)), source_.dump(from)};
    }
    return Options(request, {{"REPLACE"}, {Pick({"IDLETIME", "FREQ"}), "7"}});
  };
  cases_["restore-asking"] = [this] {
    return Words{"RESTORE-ASKING", Key('r', 3), "0", source_.dump(AnyKey()), "REPLACE"};
  };
  cases_["sort"] = [this] {
    Words request = {"SORT", Pick({Key('l', 4), Key('t', 4), Key('z', 4)})};
    request = Options(request, {{"ALPHA"}, {"BY", "nosort"}, {"DESC"}, {"LIMIT", "0", "4"}});
    if (Chance(3)) request = request + Words{"GET", "#", "GET", "s*"};
    return request + Words{"STORE", Key('l', 4)};
  };
}

void RandomRequests::AddServer() {
  cases_["flushdb"] = [this] { return Options({"FLUSHDB"}, {{Pick({"SYNC", "ASYNC"})}}); };
  cases_["flushall"] = [this] { return Options({"FLUSHALL"}, {{Pick({"SYNC", "ASYNC"})}}); };
  cases_["swapdb"] = [this] { return Words{"SWAPDB", Number(3), Number(3)}; };
  cases_["function|load"] = [this] {
    const std::string name = Number(3);
    const std::string code = "#!lua name=lib" + name + "\nredis.register_function('f" + name +
                             "', function(keys) return redis.call('INCR', keys[1]) end) -- " +
                             Number(100);
    return Words{"FUNCTION", "LOAD", "REPLACE", code};
  };
  cases_["function|delete"] = [this] { return Words{"FUNCTION", "DELETE", "lib" + Number(3)}; };
  cases_["function|flush"] = [] { return Words{"FUNCTION", "FLUSH"}; };
  cases_["function|restore"] = [this] {
    return Words{"FUNCTION", "RESTORE", source_.dump_functions(),
                 Pick({"FLUSH", "APPEND", "REPLACE"})};
  };
}

}  // namespace zsetd
