"""What travels between this library and the CLI: typed frames and messages, and the codec for both directions.

Nothing here decides anything, and nothing here knows a thread, a process or a clock.
"""
