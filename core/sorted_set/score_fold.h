#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace zsetd {

// How the scores of a member of several sets are combined. For kCount each score is 1.
enum class Aggregate { kSum, kMin, kMax, kCount };

// The contribution of one input to the score of a member. It adds the member's score in that input
// once for each of its weights, in their order. A set that a request lists several times is one
// input with several weights.
//
// The order is kept because it is visible if infinities of both signs are added: their sum is 0, as
// in Redis, and later scores are added to that 0.
class ScoreFold {
 public:
  // The treatment of a product that is NaN (infinity times 0). kZero: it counts as 0, as in a
  // union. kKept, for an intersection: only the first factor's product counts as 0; another one
  // makes a sum 0 and is ignored by a minimum or maximum.
  enum class NanProduct { kZero, kKept };

  explicit ScoreFold(Aggregate aggregate, NanProduct nan = NanProduct::kZero)
      : aggregate_(aggregate), nan_(nan) {}

  // Must be called at least once before the fold is used.
  void AddWeight(double weight) { weights_.push_back(weight); }

  // The score of a member that no earlier input has. Never NaN.
  double First(double score) const {
    return FoldFrom(1, OrZero(Product(score, weights_[0])), score);
  }

  // The score of a member that has the score `held` from earlier inputs. `held` is not NaN, and
  // neither is the result.
  double Next(double held, double score) const { return FoldFrom(0, held, score); }

 private:
  static double OrZero(double value) { return std::isnan(value) ? 0 : value; }

  double Product(double score, double weight) const {
    return aggregate_ == Aggregate::kCount ? weight : score * weight;
  }

  double FoldFrom(size_t first, double held, double score) const {
    for (size_t i = first; i < weights_.size(); ++i) {
      const double product = Product(score, weights_[i]);
      held = Combine(held, nan_ == NanProduct::kZero ? OrZero(product) : product);
    }
    return held;
  }

  double Combine(double held, double added) const {
    switch (aggregate_) {
      case Aggregate::kMin:
        return added < held ? added : held;
      case Aggregate::kMax:
        return added > held ? added : held;
      case Aggregate::kSum:
      case Aggregate::kCount:
        break;
    }
    return OrZero(held + added);
  }

  Aggregate aggregate_;
  NanProduct nan_;
  std::vector<double> weights_;
};

}  // namespace zsetd
