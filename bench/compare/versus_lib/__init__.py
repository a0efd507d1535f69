"""The parts of bench/compare/versus."""
