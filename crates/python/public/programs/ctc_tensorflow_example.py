"""ctc_tensorflow_example: its script, from sound to decoded text, on a made recording."""

import os

URL = "https://github.com/igormq/ctc_tensorflow_example"
COMMIT = "d71130f6b870215a1eb7949c2f922c8c24d9d6dd"
TOLERANCE = 1e-3  # the first step takes the loss from 391 to 64, which magnifies rounding errors
NEEDS = ["python_speech_features", "scipy", "six"]


def prepare(data):
    import numpy as np
    import scipy.io.wavfile
    sound = np.random.RandomState(2).randint(-9000, 9000, size=24000).astype(np.int16)
    scipy.io.wavfile.write(os.path.join(data, "LDC93S1.wav"), 16000, sound)
    with open(os.path.join(data, "LDC93S1.txt"), "w") as file:
        file.write("0 46797 She had a dark suit.\n")


def drive(data, records):
    import shutil
    import watch
    import utils
    shutil.copy(os.path.join(data, "LDC93S1.wav"), ".")
    shutil.copy(os.path.join(data, "LDC93S1.txt"), ".")
    utils.maybe_download = lambda name, size: name
    watch.run_some(records, 30, "ctc_tensorflow_example.py")
