"""Reinforcement-learning-with-tensorflow: A3C, PPO, DDPG and actor-critic through their own scripts.

The environment is a stand-in for `gym`, and A3C has one worker, so that the steps come in one order.
"""

URL = "https://github.com/MorvanZhou/Reinforcement-learning-with-tensorflow"
COMMIT = "93e333484be0e262d28b65507b6a1d002424a056"
NEEDS = ["pandas"]
TOLERANCE = 1e-4  # hundreds of updates, and values near zero


def prepare(data):
    pass


def drive(data, records):
    import multiprocessing
    import os
    import numpy as np
    import tensorflow as tf
    import watch
    multiprocessing.cpu_count = lambda: 1
    watch.seed_by_order()  # PPO makes its policy after gradients, which have other nodes here
    for path, most in SCRIPTS:
        tf.reset_default_graph()
        np.random.seed(2)
        here = os.getcwd()
        os.chdir(os.path.join("contents", os.path.dirname(path)))
        watch.run_some(records, most, os.path.basename(path))
        os.chdir(here)


SCRIPTS = [
    ("10_A3C/A3C_discrete_action.py", 150),
    ("10_A3C/A3C_continuous_action.py", 150),
    ("10_A3C/A3C_RNN.py", 150),
    ("12_Proximal_Policy_Optimization/simply_PPO.py", 150),
    ("9_Deep_Deterministic_Policy_Gradient_DDPG/DDPG.py", 100),
    ("8_Actor_Critic_Advantage/AC_CartPole.py", 100),
    ("6_OpenAI_gym/run_CartPole.py", 100),
]
