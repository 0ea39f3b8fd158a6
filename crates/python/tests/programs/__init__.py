"""Small TensorFlow 1 programs, each a function of `tf`, and what a real TensorFlow answered: `python -m programs.run` beside this folder."""
