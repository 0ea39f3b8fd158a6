"""A solver that runs until it has converged, as a layer of a PyTorch program that is trained.

Each of 64 equations y + a * y**3 = x is solved for y by Newton's method, as many steps as it needs. Training
finds the `a` with which given solutions were made. Gradients flow back through the steps that were taken. The
same program with loops of PyTorch is run for comparison; the times go to the standard error.
"""

import sys
import time
from typing import Any

import torch

import millstream.torch
from millstream import func


def solve(a: Any, x: Any) -> Any:
    """Solves y + a * y**3 = x for y, starting from x."""

    def residual(y: Any) -> Any:
        return y + a * y * y * y - x

    step = lambda y: y - residual(y) / (1.0 + 3.0 * a * y * y)
    return func.while_loop(lambda y: abs(residual(y)) > 1e-10, step, x)


def solve_in_torch(a: Any, xs: Any) -> Any:
    """The same with a loop of PyTorch for each equation."""
    solutions = []
    for x in xs:
        y = x
        while abs(y + a * y * y * y - x) > 1e-10:
            y = y - (y + a * y * y * y - x) / (1.0 + 3.0 * a * y * y)
        solutions.append(y)
    return torch.stack(solutions)


def train(solver: Any, xs: Any, wanted: Any, steps: int) -> Any:
    a = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([a], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((solver(a, xs) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
    return a, loss


def main() -> None:
    xs = torch.linspace(0.5, 5.0, 64, dtype=torch.float64)
    solver = millstream.torch.wrap(lambda a, xs: func.map(lambda x: solve(a, x), xs))
    with torch.no_grad():
        wanted = solver(torch.tensor(1.0, dtype=torch.float64), xs)
    a, loss = train(solver, xs, wanted, 200)
    print("found a = %.3f, loss below 1e-8: %s" % (a.item(), bool(loss < 1e-8)))
    for name, one in (("millstream", solver), ("torch", solve_in_torch)):
        train(one, xs, wanted, 1)
        begin = time.perf_counter()
        train(one, xs, wanted, 5)
        print("%s: %.2f ms a training step" % (name, (time.perf_counter() - begin) / 5 * 1e3), file=sys.stderr)


if __name__ == "__main__":
    main()
