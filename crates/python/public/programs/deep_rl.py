"""deep-rl of pemami4911: DDPG through its own script, with a stand-in for `gym`'s environment."""

import os

URL = "https://github.com/pemami4911/deep-rl"
COMMIT = "3cc7eb13af9e4780ece8ddc8b663bde59e19c8c0"
NEEDS = ["tflearn", "pillow<10"]
TOLERANCE = 5e-2  # biases before a batch normalization have no gradient but rounding errors


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import gym
    import watch
    gym.wrappers = types.ModuleType("gym.wrappers")
    sys.modules["gym.wrappers"] = gym.wrappers
    gym.wrappers.Monitor = lambda env, *others, **named: env
    os.chdir("ddpg")
    watch.run_some(
        records, 40, "ddpg.py", "--minibatch-size", 8, "--max-episodes", 3, "--summary-dir", os.path.join(data, "logs"))
