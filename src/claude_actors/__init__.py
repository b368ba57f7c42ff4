"""Supervised Claude Code sessions as actors."""

from __future__ import annotations
