"""Doubts about the checks of the ledger, its quotations against the papers, and its pages."""
