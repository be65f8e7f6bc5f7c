"""The parts of bench/fuzz: code that shares nothing with the program it tests."""
