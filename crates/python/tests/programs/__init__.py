"""Small TensorFlow 1 programs, each a function of `tf`, compared with TensorFlow's recorded results.

Run `python -m programs.run` in the parent directory.
"""
