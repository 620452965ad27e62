"""``python -m privproof``."""

from privproof.cli import main

main()
