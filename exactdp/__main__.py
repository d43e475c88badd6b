"""``python -m exactdp``: the command line, where its script is not on the path."""

from exactdp.cli.main import main

main()
