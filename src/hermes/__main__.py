"""`python -m hermes`: the same as the command `hermes`."""

from hermes.cli import main

main()
