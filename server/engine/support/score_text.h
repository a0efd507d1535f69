#pragma once

#include <string>

#include "core/sorted_set/form/score_form.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

// The text of an element's score in a set of this form: that of a double, or the form's own.
// `score` is as the set returned it.
std::string ScoreText(const ScoreForm& form, double score);

// The score as servers without forms have it.
double PlainScore(const ScoreForm& form, double score);

}  // namespace zsetd
