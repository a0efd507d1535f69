#pragma once

#include <string>

#include "core/sorted_set/form/score_form.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/time.h"

namespace zsetd {

// The text of an element's score in a set of this form: that of a double, or the form's own.
// `score` is as the set returned it. A score that decays has its value of `now`.
std::string ScoreText(const ScoreForm& form, double score, Millis now);

// The text of what the set stores, from which zsetd restores the score exactly. It differs from
// ScoreText() if the score decays.
std::string StoredScoreText(const ScoreForm& form, double score);

// The score as servers without forms have it.
double PlainScore(const ScoreForm& form, double score);

}  // namespace zsetd
