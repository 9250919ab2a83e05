"""`python -m harness` is `weighbridge`, for a checkout that is not installed."""

import sys

if __name__ == "__main__":
    try:
        from harness.cli import main

        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
