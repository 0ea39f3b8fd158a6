"""Generated files, which are not edited by hand.

- `api.py`: TensorFlow 1.15's names and arguments of the functions of ops (`tools/tf_api.py`);
- `messages.bin`: the descriptors of the messages; `raw_ops.pyi`: types and docs of all ops (`cargo xtask
  gen`);
- `endpoints*.pyi`, `protos.pyi`: types of the functions and messages that are created when they are first
  requested (`tools/stubs.py`).
"""
