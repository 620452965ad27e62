"""Files of Markov chains and decision processes: DRN, JANI, and which reader a file is for."""
