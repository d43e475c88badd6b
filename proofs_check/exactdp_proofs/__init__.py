"""Checks that run: the papers' statements as claims, each with a verdict."""
