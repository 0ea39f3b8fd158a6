"""The cases of `soak.py` by name, with their numbers of rounds at full length and in tests."""

SOAK = {
    "runs": (1_000_000, 6000),
    "callables": (1_000_000, 6000),
    "feeds": (1_000_000, 6000),
    "graphs": (100_000, 400),
    "build_errors": (1_000_000, 4000),
    "run_errors": (1_000_000, 4000),
    "feed_errors": (1_000_000, 4000),
    "threads": (20_000, 400),
}
