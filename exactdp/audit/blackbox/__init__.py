"""The audit of outputs: train, confirm on fresh outputs, report; anywhere, and resumable."""
