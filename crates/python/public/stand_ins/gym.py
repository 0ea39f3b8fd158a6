"""A small stand-in for `gym`: two environments with the shapes of CartPole and Pendulum, and dynamics of
their own.
"""

import numpy as np


class Box:
    """A space of vectors between two bounds."""

    def __init__(self, low, high, shape):
        self.low, self.high, self.shape = np.full(shape, low, "f"), np.full(shape, high, "f"), shape


class Discrete:
    """A space of the integers below `n`."""

    def __init__(self, n):
        self.n = n

    def sample(self):
        return np.random.randint(self.n)


class Environment:
    """A linear system with noise; an episode has 30 steps."""

    x_threshold, theta_threshold_radians = 2.4, 0.2

    def __init__(self, size, discrete):
        self.observation_space = Box(-2.0, 2.0, (size,))
        self.action_space = Discrete(2) if discrete else Box(-2.0, 2.0, (1,))
        self.unwrapped = self
        self.chance = np.random.RandomState(7)
        generator = np.random.RandomState(8)
        self.drift = 0.9 * np.linalg.qr(generator.randn(size, size))[0]
        self.push = generator.randn(size)

    def seed(self, seed):
        self.chance = np.random.RandomState(seed)

    def reset(self):
        self.steps = 0
        self.state = self.chance.uniform(-0.05, 0.05, self.push.shape)
        return self.state.copy()

    def step(self, action):
        force = float(np.asarray(action).ravel()[0])
        self.state = self.drift.dot(self.state) + 0.1 * force * self.push + 0.01 * self.chance.randn(len(self.push))
        self.steps += 1
        return self.state.copy(), -float(np.sum(np.square(self.state))), self.steps % 30 == 0, {}

    def render(self):
        pass


def make(name):
    """Returns an environment with the shapes of the one named."""
    return Environment(4, True) if name.startswith("CartPole") else Environment(3, False)
