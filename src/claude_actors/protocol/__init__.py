"""What the frames mean: a session's rules as plain data in, plain data out.

Pure: no thread, no process, no clock, no log. The time is an argument, and what must be done is an effect that others
carry out.
"""
