#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

// Random requests of every command that writes, on few keys, so that they affect each other.
class RandomRequests {
 public:
  using Words = std::vector<std::string>;

  // `dump` returns the payload of DUMP of a key, and `dump_functions` that of FUNCTION DUMP.
  struct Source {
    std::function<Millis()> now;
    std::function<std::string(const std::string& key)> dump;
    std::function<std::string()> dump_functions;
  };

  RandomRequests(uint64_t seed, Source source);

  // Returns the rows for which there is a case.
  std::vector<std::string> Names() const;
  bool Has(std::string_view row) const { return cases_.contains(std::string(row)); }

  // Returns a request of that row. Most are valid and most change something.
  Words Of(const std::string& row);

  // Returns a row. The choice keeps some data in the database.
  std::string AnyName();

  // Returns a request of such a row, or occasionally one that reads.
  Words Any();

  std::string AnyKey();

  // Returns a request of a row that may block, with a short timeout.
  Words Blocking();

  Rng& rng() { return rng_; }

 private:
  using Case = std::function<Words()>;

  void AddStrings();
  void AddBits();
  void AddHyperLogLogs();
  void AddLists();
  void AddSets();
  void AddHashes();
  void AddSortedSets();
  void AddGeo();
  void AddStreams();
  void AddGroups();
  void AddKeys();
  void AddServer();

  size_t Below(size_t bound) { return rng_.Below(bound); }
  bool Chance(size_t one_in) { return Below(one_in) == 0; }
  std::string Number(size_t bound) { return std::to_string(Below(bound)); }
  std::string Pick(const std::vector<std::string>& words) { return words[Below(words.size())]; }
  std::string Key(char type, size_t count);  // sometimes one of another type
  std::string Value();
  std::string Member();
  std::string Payload();  // of a member of a sorted set
  std::string Members();
  std::string Integer();
  std::string Float();
  std::string Score();
  std::string Timeout();
  std::string StreamId();
  std::string References();
  Words Expiry();  // EX 10, or another form; in the past where allowed
  Words Capped();  // MAXLEN 5, or with KEEP
  Words Many(const std::function<Words()>& one, size_t most);
  Words TimeFor(const std::string& row);
  Words Area();
  Words Place();
  Words Options(Words words, const std::vector<Words>& options);
  Words Elements(Words request, const std::string& keyword,
                 const std::function<std::string()>& element, size_t most = 3);
  void AddExpiry(const std::string& letter, const std::string& keyword,
                 const std::function<std::string()>& key,
                 const std::function<std::string()>& element);
  Words Algebra(const std::string& row);

  Rng rng_;
  Source source_;
  std::map<std::string, Case> cases_;
  std::vector<std::string> names_;
};

}  // namespace zsetd
