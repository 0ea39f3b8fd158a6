"""Functions that create nodes: arrays, math, control flow, queues, strings, random numbers, gradients.

Modules are named as TensorFlow's where it has a corresponding one (`array_ops`, `math_ops`). They import
`framework` and each other. Functions that are one op each have no definition; `framework.op_functions.op`
creates them.
"""
