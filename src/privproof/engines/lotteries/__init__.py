"""The engine of lotteries: one of the elements with the highest noisy level is drawn by lot, lists of every length."""
