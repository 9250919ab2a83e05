"""`python -m harness` is `weighbridge`, for a checkout that is not installed."""

import sys

from harness.cli import main

if __name__ == "__main__":
    sys.exit(main())
