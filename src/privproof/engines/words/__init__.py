"""The engines of word problems: tables, tensors, frontier search, events, words of every length, and the SMT encoding."""
