"""DeepSpeech: its training from `tf.data`, with coefficients of sounds, and its graph for streams."""

import os

URL = "https://github.com/mozilla/DeepSpeech"
COMMIT = "dce068f3cbf32850a74bf0873241a5dd5fc93dfd"
NEEDS = ["pandas"]
TOLERANCE = 1e-4  # Variables after steps of Adam; the losses agree within 2e-6.


def prepare(data):
    import wave
    import numpy as np
    import watch
    generator = np.random.RandomState(2)
    for split in ("train", "dev"):
        rows = ["wav_filename,wav_filesize,transcript"]
        for n, line in enumerate(watch.lines(8, len(split))):
            path = os.path.join(data, "%s%d.wav" % (split, n))
            frames = generator.randint(6000, 12000)
            time = np.arange(frames) / 16000.0
            sound = 8000 * np.sin(2 * np.pi * generator.randint(200, 2000) * time) + 1000 * generator.randn(frames)
            with wave.open(path, "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(16000)
                file.writeframes(sound.astype("<i2").tobytes())
            rows.append("%s,%d,%s" % (path, os.path.getsize(path), line.strip(".")[:8].strip()))
        with open(os.path.join(data, split + ".csv"), "w") as file:
            file.write("\n".join(rows) + "\n")


def drive(data, records):
    import sys
    import types
    import numpy as np
    import tensorflow as tf

    class AttrDict(dict):
        __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

    class Any(object):
        def __init__(self, *args, **kwargs):
            pass

        def __getattr__(self, name):
            return lambda *args, **kwargs: self

    for name, values in (("attrdict", {"AttrDict": AttrDict}), ("xdg", {"BaseDirectory": None}),
                         ("ds_ctcdecoder", dict.fromkeys(("ctc_beam_search_decoder", "ctc_beam_search_decoder_batch", "Scorer"))),
                         ("progressbar", {"ProgressBar": Any})):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(values)
    sys.modules["progressbar"].widgets = types.SimpleNamespace(FormatLabel=Any, Timer=Any, Counter=Any)
    sys.modules["util.evaluate_tools"] = types.ModuleType("util.evaluate_tools")
    sys.modules["util.evaluate_tools"].calculate_report = None
    import DeepSpeech
    DeepSpeech.create_progressbar = Any
    DeepSpeech.create_flags()
    flags = dict(train_files=data + "/train.csv", dev_files=data + "/dev.csv", train_batch_size=2, dev_batch_size=3, n_hidden=10,
                 epochs=3, checkpoint_dir=data + "/saved", summary_dir=data + "/seen", dropout_rate=0.1, learning_rate=0.01)
    tf.app.flags.FLAGS(["DeepSpeech.py"] + ["--%s=%s" % item for item in sorted(flags.items())])
    DeepSpeech.initialize_globals()
    DeepSpeech.train()
    records.add_checkpoint(data + "/saved")
    tf.reset_default_graph()
    inputs, outputs, _ = DeepSpeech.create_inference_graph(batch_size=1, n_steps=4)
    generator = np.random.RandomState(3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(outputs["initialize_state"])
        for _ in range(4):
            sound = generator.randn(512).astype(np.float32)
            session.run(outputs["mfccs"], {inputs["input_samples"]: sound})
            session.run(outputs["outputs"], {
                inputs["input"]: generator.randn(1, 4, 19, 26), inputs["input_lengths"]: [4]})
