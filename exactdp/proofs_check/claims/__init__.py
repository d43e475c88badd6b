"""The ledger: one small file per item of a paper, each with a tuple CLAIMS."""
