"""The checks of histories find each kind of planted violation, and nothing in a sound history."""

import copy
import unittest

from records import (ACKNOWLEDGED, BY_ALL, BY_ONE, REFUSED, UNKNOWN, Final, Operation, lost,
                     violations)


def operation(kind, number, outcome, client=1, reply=0):
    return Operation(kind, client, number, begin=number, end=number + 0.5, outcome=outcome, reply=reply)


class Checks(unittest.TestCase):
    def setUp(self):
        outcomes = (BY_ALL, UNKNOWN, ACKNOWLEDGED, REFUSED, BY_ONE, BY_ALL)
        self.operations = [operation(kind, number, outcome)
                           for kind in ("push", "score", "entry", "pair", "move")
                           for number, outcome in enumerate(outcomes)]
        self.operations += [operation("count", 10 + number, BY_ALL, reply=number) for number in (1, 2, 3)]
        kept = ["1:0", "1:1", "1:2", "1:4", "1:5"]
        self.final = Final(kept[:], kept[:], kept[:], (kept[:], kept[:]), ["1:3"], kept[:], {1: 3})

    def found(self, change):
        final = copy.deepcopy(self.final)
        change(final)
        return "\n".join(violations(self.operations, final))

    def test_a_sound_history_has_no_violation(self):
        self.assertEqual(self.found(lambda final: None), "")

    def test_operations_of_unknown_end_may_be_absent_or_late(self):
        self.assertEqual(self.found(lambda final: final.push.remove("1:1")), "")
        self.assertEqual(self.found(lambda final: (final.push.remove("1:1"), final.push.append("1:1"))), "")

    def test_a_lost_element_is_found(self):
        for kind in ("push", "score", "entry"):
            self.assertIn(f"{kind} 1:5 is lost", self.found(lambda final: getattr(final, kind).remove("1:5")))
        self.assertIn("move 1:5 is lost", self.found(lambda final: final.target.remove("1:5")))
        self.assertEqual(self.found(lambda final: final.push.remove("1:4")), "", "WAIT returned less")

    def test_losses_without_wait_are_counted(self):
        self.final.push.remove("1:2")
        self.final.push.remove("1:4")
        self.assertEqual([each.element for each in lost(self.operations, self.final, ACKNOWLEDGED)],
                         ["1:2", "1:4"])
        self.assertEqual([each.element for each in lost(self.operations, self.final, BY_ONE)], ["1:4"])

    def test_a_repeated_element_is_found(self):
        self.assertIn("push 1:0 occurs 2 times", self.found(lambda final: final.push.append("1:0")))
        self.assertIn("move 1:0 is in both sets", self.found(lambda final: final.source.append("1:0")))

    def test_an_element_from_nowhere_is_found(self):
        self.assertIn("push 1:3 exists", self.found(lambda final: final.push.append("1:3")))
        self.assertIn("score 2:7 exists", self.found(lambda final: final.score.append("2:7")))

    def test_a_wrong_order_is_found(self):
        self.assertIn("push 1:0 follows 1:5", self.found(
            lambda final: (final.push.remove("1:0"), final.push.append("1:0"))))

    def test_a_partial_transaction_is_found(self):
        self.assertIn("executed in part", self.found(lambda final: final.pair[1].remove("1:2")))
        self.assertIn("executed in part", self.found(lambda final: final.pair[1].append("1:9")))

    def test_a_wrong_counter_is_found(self):
        for value in (2, 4):
            self.assertIn(f"counter of client 1 is {value}",
                          self.found(lambda final: final.counters.update({1: value})))


if __name__ == "__main__":
    unittest.main()
