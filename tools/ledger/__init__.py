"""Doubts about the checks of the ledger, and its quotations against the texts of the papers."""
