"""PointNet (charlesq34): `train.py` on made clouds of points, both classifiers."""

import os

URL = "https://github.com/charlesq34/pointnet"
COMMIT = "2618f72bc1a0fd21b074096e748016960d44ef55"
NEEDS = ["h5py"]
TOLERANCE = 1e-4
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import h5py
    import numpy as np
    import watch
    home = os.path.join(os.getcwd(), "data", "modelnet40_ply_hdf5_2048")
    os.makedirs(home)
    for part, n in (("train", 32), ("test", 16)):
        path = os.path.join(home, part + ".h5")
        with h5py.File(path, "w") as file:
            file["data"] = np.random.rand(n, 32, 3).astype(np.float32)
            file["label"] = np.random.randint(0, 40, size=(n, 1)).astype(np.uint8)
        with open(os.path.join(home, part + "_files.txt"), "w") as file:
            file.write(path + "\n")
    for model in ("pointnet_cls_basic", "pointnet_cls"):
        log = os.path.join(data, model)
        watch.run_script("train.py", "--model", model, "--num_point", 32, "--max_epoch", 2, "--batch_size", 16, "--optimizer", "momentum", "--log_dir", log)
