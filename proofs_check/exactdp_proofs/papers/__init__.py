"""The ledger: a package per paper, and in it a module per section or group of lemmas."""
