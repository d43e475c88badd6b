"""Other libraries' own tests of accountants, run with the accountants of `accounting.interop`."""
