"""The parts of bench/versus."""
