"""Placeholder until the package is filled."""
