#!/usr/bin/env python3
"""ruby - what recording Ruby programs costs, and what it gets: fathom beside its peers, in one run.

The programs: mixed (primes, strings put together, sorting by a key, recursion), threads (60 asleep and four
that compute) and allocations (objects that live for a moment: much is the collector's).  Each checks what it
has computed.
"""

import os

import beside
from ruby_peers import PEERS, fetch, rubies

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "mixed": beside.Program(os.path.join(HERE, "ruby", "mixed.rb")),
    "threads": beside.Program(os.path.join(HERE, "ruby", "threads.rb"), function="compute"),
    "allocations": beside.Program(os.path.join(HERE, "ruby", "allocations.rb")),
}


class Catalogue:
    """Which rubies need a fathom of their own."""

    is_fetched = staticmethod(rubies.has_own_c_library)
    copy_fathom = staticmethod(rubies.copy_fathom)


def main():
    options = beside.parse_arguments(__doc__, "rubies", "debian-3.1", PEERS, PROGRAMS)
    if options.fetch:
        fetch()
        return
    beside.main(options, Catalogue, rubies.every_ruby(), PEERS, PROGRAMS)


if __name__ == "__main__":
    main()
