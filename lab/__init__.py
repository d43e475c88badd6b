"""Benchmarks and experiments: programs that measure what the pages say."""
