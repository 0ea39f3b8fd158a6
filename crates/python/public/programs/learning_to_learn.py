"""learning-to-learn: its own unit tests, and training of the optimizer through its own script."""

URL = "https://github.com/deepmind/learning-to-learn"
COMMIT = "f3c1a8d176b8ea7cc60478bfcfdd10a7a52fd296"
NEEDS = ["six", "dill", "nose_parameterized", "dm-sonnet==1.23"]
TOLERANCE = 1e-4  # the learned optimizer's cost grows a rounding error from step to step


def prepare(data):
    pass


def drive(data, records):
    import os
    import tensorflow as tf
    import watch
    watch.run_tests(records, ["meta_test", "networks_test", "preprocess_test", "problems_test"])
    tf.reset_default_graph()
    watch.run_script("train.py", "--problem", "simple-multi", "--num_epochs", 4, "--num_steps", 10, "--unroll_length",
                     5, "--log_period", 2, "--evaluation_period", 2, "--evaluation_epochs", 2, "--save_path",
                     os.path.join(data, "save"))
