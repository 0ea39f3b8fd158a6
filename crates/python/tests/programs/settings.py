"""`tf.config`, and older names of parameters and tables."""

from programs.raised import WHOLE, caught
from programs.tools import rows, static


def devices_and_settings(tf):
    config = tf.config
    devices = config.experimental.list_physical_devices("CPU"), config.experimental.list_physical_devices("GPU"), config.experimental.get_visible_devices()
    logical = config.experimental.list_logical_devices("CPU")
    config.set_soft_device_placement(True)
    config.optimizer.set_jit(True)
    told = config.get_soft_device_placement(), config.optimizer.get_jit(), config.threading.get_intra_op_parallelism_threads(), config.threading.get_inter_op_parallelism_threads()
    config.set_soft_device_placement(False)
    config.optimizer.set_jit(False)
    config.experimental.set_visible_devices([], "GPU")
    wrong = caught(lambda: config.experimental.set_memory_growth(devices[0][0], True), WHOLE)
    return [[(d.name, d.device_type) for d in found] for found in (*devices, logical)], told, wrong, config.experimental.get_synchronous_execution(), config.experimental.get_device_policy()


def parameters_from_a_map(tf):
    made = tf.contrib.training.HParams(a=1, b=2.0)
    made.set_from_map({"a": 3})
    return made.values(), caught(lambda: made.set_from_map({"c": 1}))


def contents_of_a_table(tf):
    table = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0)
    keys, values = table.export()
    other = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["c"], [3]), 0)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        found = sess.run([keys, values])
        return rows(found[0]), rows(found[1]), static(keys, values), keys.name, table.resource_handle.name, sess.run(other.export())
