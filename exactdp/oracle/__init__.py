"""The oracle: conformance vectors, tools for tests of other code, adapters to other libraries."""
