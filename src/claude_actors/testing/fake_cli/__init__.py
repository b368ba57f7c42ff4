"""The scripted fake CLI: a program that speaks the protocol of the real one, by script.

It runs in a process of its own under `python -IS`, where site-packages are out of reach and every import is counted in
milliseconds: nothing here may import typing, dataclasses, threading, or anything of the package outside `testing`.
"""
