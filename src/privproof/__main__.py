"""``python -m privproof``."""

from privproof.cli import main

if __name__ == "__main__":
    main()
