"""Model-agnostic meta-learning: gradients of gradient steps inside `map_fn`, through its own script."""

import os

URL = "https://github.com/cbfinn/maml"
COMMIT = "a7f45f1bcd7457fe97b227a21e89b8a82cc5fa49"


def prepare(data):
    pass


def drive(data, records):
    import tensorflow as tf
    import watch
    runs = [("--num_updates=1",), ("--num_updates=2", "--stop_grad=True")]
    for at, flags in enumerate(runs):
        tf.reset_default_graph()
        log = os.path.join(data, str(at))
        watch.run_script("main.py", "--datasource=sinusoid", "--norm=None", "--metatrain_iterations=30", "--meta_batch_size=5",
                         "--logdir=" + log, *flags)
        records.add_checkpoint(os.path.join(log, os.listdir(log)[0]))
