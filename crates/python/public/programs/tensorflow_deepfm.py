"""DeepFM (ChenglongChen): fitting with each of its optimizers, and a validation set.

Its batch normalization stays out: both branches of a `cond` are built outside it, so that one reads averages
while the other one writes them.
"""

URL = "https://github.com/ChenglongChen/tensorflow-DeepFM"
COMMIT = "a43dd5ff1f61a275c8a6e0fd659e200af64093cc"
NEEDS = ["scikit-learn"]


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import numpy as np
    sys.modules["yellowfin"] = types.ModuleType("yellowfin")  # an optimizer of another repository
    sys.modules["yellowfin"].YFOptimizer = None
    import DeepFM
    for at, name in enumerate(("adam", "adagrad", "gd", "momentum")):
        np.random.seed(at)
        made = DeepFM.DeepFM(
            30, 5, embedding_size=4, dropout_fm=[0.9, 0.8], deep_layers=[8, 6], dropout_deep=[0.9, 0.8, 0.7], epoch=2,
            batch_size=16, learning_rate=0.01, optimizer_type=name, loss_type=("logloss", "mse")[at // 3], l2_reg=0.01, random_seed=7)
        indices, values = np.random.randint(0, 30, size=(64, 5)).tolist(), np.random.rand(64, 5).tolist()
        labels = np.random.randint(0, 2, size=64).tolist()
        made.fit(indices[:48], values[:48], labels[:48], indices[48:], values[48:], labels[48:])
        records.add("predicted", made.predict(indices, values))
