"""A neural ODE with adaptive steps, trained from PyTorch: the number of steps depends on the weights.

A net with one hidden layer learns the vector field of a damped oscillator from the states at ten times. The
integrator is Heun's method with Euler's for the error estimate; it takes smaller steps where the estimate is
large. The same integrator in PyTorch is run for comparison; the times go to the standard error.
"""

import sys
import time
from typing import Any, Dict, List

import numpy as np
import torch

import millstream as tf
import millstream.torch
from millstream import func

TOLERANCE = 1e-3


def integrate(field: Any, y: Any, span: Any) -> Any:
    """Integrates y' = field(y) over `span` with adaptive steps."""

    def step(state: Any) -> Any:
        t, y, h = state
        h = tf.minimum(h, span - t)
        k1 = field(y)
        k2 = field(y + h * k1)
        error = tf.reduce_max(tf.abs(k2 - k1)) * h / 2.0 / TOLERANCE
        accept = error <= 1.0
        factor = tf.clip_by_value(0.9 / tf.sqrt(tf.stop_gradient(error) + 1e-10), 0.2, 5.0)
        after = tf.cond(accept, lambda: y + h * (k1 + k2) / 2.0, lambda: y)
        return tf.where(accept, t + h, t), after, h * factor

    return func.while_loop(lambda s: s[0] < span - 1e-9, step, (0.0 * span, y, span / 4.0))[1]


def trajectory(p: Any, y: Any, spans: Any) -> Any:
    """Returns the states after each of the spans."""

    def field(y: Any) -> Any:
        hidden = tf.tanh(tf.linalg.matvec(p["w1"], y) + p["b1"])
        return tf.linalg.matvec(p["w2"], hidden)

    def step(y: Any, span: Any) -> Any:
        y = integrate(field, y, span)
        return y, y

    return func.scan(step, y, spans)[1]


def trajectory_in_torch(p: Any, y: Any, spans: Any) -> Any:
    """The same with PyTorch's operations."""
    field = lambda y: p["w2"] @ torch.tanh(p["w1"] @ y + p["b1"])
    states = []
    for span in spans.tolist():
        t, h = 0.0, span / 4.0
        while t < span - 1e-9:
            h = min(h, span - t)
            k1 = field(y)
            k2 = field(y + h * k1)
            error = float((k2 - k1).detach().abs().max()) * h / 2.0 / TOLERANCE
            if error <= 1.0:
                t, y = t + h, y + h * (k1 + k2) / 2.0
            h *= min(max(0.9 / (error + 1e-10) ** 0.5, 0.2), 5.0)
        states.append(y)
    return torch.stack(states)


def weights() -> Dict[str, Any]:
    torch.manual_seed(0)
    p = {"w1": torch.randn(16, 2) * 0.5, "b1": torch.zeros(16), "w2": torch.randn(2, 16) * 0.2}
    return {name: w.double().requires_grad_() for name, w in p.items()}


def train(model: Any, start: Any, spans: Any, wanted: Any, steps: int) -> List[float]:
    p = weights()
    optimizer = torch.optim.Adam(p.values(), lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(p, start, spans) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    spans = torch.full((10,), 0.3, dtype=torch.float64)
    t = np.cumsum(spans.numpy())
    wanted = torch.tensor(np.stack([np.exp(-0.2 * t) * np.cos(2 * t), -np.exp(-0.2 * t) * np.sin(2 * t)], 1))
    start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    model = millstream.torch.wrap(trajectory)
    losses = train(model, start, spans, wanted, 150)
    print("the loss fell below a twentieth: %s" % (losses[-1] < losses[0] / 20))
    p = weights()
    agree = torch.allclose(model(p, start, spans), trajectory_in_torch(p, start, spans), atol=1e-6)
    print("both integrators agree: %s" % agree)
    for name, one in (("millstream", model), ("torch", trajectory_in_torch)):
        begin = time.perf_counter()
        train(one, start, spans, wanted, 20)
        print("%s: %.2f ms a training step" % (name, (time.perf_counter() - begin) / 20 * 1e3), file=sys.stderr)


if __name__ == "__main__":
    main()
