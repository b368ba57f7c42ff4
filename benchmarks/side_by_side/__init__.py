"""The official SDK and this library on the same emitters: what `benchmarks/run.py` runs."""
