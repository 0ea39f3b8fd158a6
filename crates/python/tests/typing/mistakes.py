"""Errors that a type checker must report, each with its code after `# E:`. They are not run."""

import millstream as tf
import millstream.compat.v1 as v1

x = tf.constant(1.0)

tf.no_such_function(x)  # E: attr-defined
tf.math.no_such_function(x)  # E: attr-defined
tf.nn.no_such_function(x)  # E: attr-defined
tf.train.NoSuchOptimizer(0.1)  # E: attr-defined
tf.raw_ops.NoSuchOp()  # E: attr-defined
v1.no_such_function(x)  # E: attr-defined
tf.errors.NoSuchError  # E: attr-defined
tf.add(x)  # E: call-arg
tf.add(x, 1, nmae="sum")  # E: call-arg
tf.add(x, object())  # E: arg-type
tf.add(x, None)  # E: arg-type
tf.raw_ops.AddV2(x, 1)  # E: misc call-arg
tf.raw_ops.MatMul(a=x, b=x, transpose_a="yes")  # E: arg-type
tf.nn.relu(x, name=3)  # E: arg-type
x.nmae  # E: attr-defined
x.shape.as_lists()  # E: attr-defined
x + object()  # E: operator
x.op.output  # E: attr-defined
tf.Session(grpah=None)  # E: call-arg
tf.Session().runn(x)  # E: attr-defined
tf.Graph().as_defualt()  # E: attr-defined
tf.placeholder()  # E: call-arg
tf.while_loop(lambda i: i < 1)  # E: call-arg
tf.FIFOQueue(10)  # E: call-arg
tf.ConfigProto(intra_op_threads=1)  # E: call-arg
tf.NodeDef(name=3)  # E: arg-type
tf.train.Coordinator().stop()  # E: attr-defined
