"""`python -m thresher`: the command line."""

from thresher.cli import main

if __name__ == "__main__":
    main()
