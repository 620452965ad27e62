"""The page in the browser: a server for the person at this machine, who asks through it what the command line asks.

Only `cli` imports it, and it imports of privproof nothing but the colours of drawings.  It computes nothing: it starts commands, in
processes of their own, and shows what `reporting` has made of their answers.
"""
