"""The demonstration: what the library promises, done and checked in front of the reader, in about a second.

Plain text and core dependencies only, so that `python -m claude_actors.demo` works wherever the library does.
"""
