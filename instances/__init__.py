"""Where instances come from: generators, trace importers, suites and the library."""
