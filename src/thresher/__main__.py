"""`python -m thresher`: the command line."""

from thresher.cli.app import main

if __name__ == "__main__":
    main()
