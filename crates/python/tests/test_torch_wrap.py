"""`millstream.torch.wrap`: functions with data-dependent loops in PyTorch."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import millstream as tf
import millstream.torch
from millstream import func


def root(a):
    return func.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2.0, a)


def settle(p, x):
    """Iterates a small net until its state is large enough."""

    def body(s):
        return s[0] + 1, tf.tanh(tf.linalg.matvec(p["w"], s[1])) + p["b"]

    n, h = func.while_loop(lambda s: tf.logical_and(s[0] < 6, tf.reduce_sum(s[1] ** 2) < 1.5), body, (0, x))
    return {"h": h, "n": n}


def parameters():
    torch.manual_seed(0)
    w, b = torch.randn(3, 3, dtype=torch.float64), torch.full((3,), 0.5, dtype=torch.float64)
    return w.requires_grad_(), b.requires_grad_(), (0.1 * torch.randn(3, dtype=torch.float64)).requires_grad_()


def test_values_and_gradients():
    f = millstream.torch.wrap(root)
    for dtype in (torch.float32, torch.float64):
        a = torch.tensor(4.0, dtype=torch.float64).to(dtype).requires_grad_()
        y = millstream.torch.wrap(lambda a: func.fori_loop(0, 3, lambda i, y: y * a, a))(a)
        y.backward()
        assert y.dtype == dtype and y.shape == () and y.item() == 256 and a.grad.item() == 256
    a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    f(a).backward()
    assert abs(a.grad.item() - 0.5 / 2**0.5) < 1e-12
    assert not f(torch.tensor(2.0, dtype=torch.float64)).requires_grad
    with torch.no_grad():
        assert not f(a).requires_grad
    assert f.__name__ == "root"


def test_gradcheck_and_gradgradcheck_through_data_dependent_loops():
    f = millstream.torch.wrap(root)
    a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (a,)) and torch.autograd.gradgradcheck(f, (a,))
    net = millstream.torch.wrap(settle)
    g = lambda w, b, x: net({"w": w, "b": b}, x)["h"]
    assert torch.autograd.gradcheck(g, parameters()) and torch.autograd.gradgradcheck(g, parameters())


def test_gradients_through_branches_not_taken():
    f = millstream.torch.wrap(lambda x: func.cond(x > 0, lambda x: root(x) * tf.exp(x), lambda x: tf.sin(x) * x, x))
    for value in (2.0, -2.0):
        x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(f, (x,)) and torch.autograd.gradgradcheck(f, (x,))


def test_third_derivative():
    f = millstream.torch.wrap(root)
    a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y = f(a)
    for _ in range(3):
        (y,) = torch.autograd.grad(y, a, create_graph=True)
    assert abs(y.item() - 3 / 8 * 2**-2.5) < 1e-9


def test_backward_twice():
    w, b, x = parameters()
    loss = millstream.torch.wrap(settle)({"w": w, "b": b}, x)["h"].sum()
    loss.backward(retain_graph=True)
    first = w.grad.clone()
    loss.backward()
    assert torch.equal(w.grad, 2 * first)


def test_the_forward_pass_runs_once(capfd):
    def f(x):
        with tf.control_dependencies([tf.print("forward")]):
            return tf.exp(tf.identity(x))

    x = torch.tensor(1.0, requires_grad=True)
    millstream.torch.wrap(f)(x).backward()
    assert capfd.readouterr().err.count("forward") == 1


def test_structures_integers_and_numbers():
    w, b, x = parameters()
    out = millstream.torch.wrap(settle)({"w": w, "b": b}, x)
    assert out["n"].dtype == torch.int32 and not out["n"].requires_grad and out["h"].requires_grad
    f = millstream.torch.wrap(lambda x, n, scale=1.0, *, how="mul": (x * scale if how == "mul" else x + scale, None, [tf.cast(n, tf.int64)]), static_argnames="how")
    y, nothing, (n,) = f(torch.ones(2), torch.tensor(3), 2.0, how="add")
    assert y.tolist() == [3, 3] and nothing is None and n.dtype == torch.int64
    assert f(torch.ones(2), torch.tensor(3), np.float32(5))[0].tolist() == [5, 5]


def test_strides_views_and_memory():
    f = millstream.torch.wrap(lambda x: x * 2)
    base = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(f(base.t()), 2 * base.t()) and torch.equal(f(base[:, ::2]), 2 * base[:, ::2])
    big = torch.ones(100_000)
    same = millstream.torch.wrap(lambda x: x)(big)
    same[0] = 5.0
    assert big[0] == 1


def test_arguments_changed_after_the_forward_pass():
    x = torch.full((100_000,), 2.0, requires_grad=True)
    held = x * 1.0
    y = millstream.torch.wrap(lambda x: x * x)(held)
    with torch.no_grad():
        held.add_(5.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_in_a_module_that_is_trained():
    class Root(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.tensor([2.0, 3.0], dtype=torch.float64))
            self.f = millstream.torch.wrap(lambda a: func.map(root, a))

        def forward(self):
            return self.f(self.a)

    module = Root()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        ((module() - torch.tensor([2.0, 1.5], dtype=torch.float64)) ** 2).sum().backward()
        optimizer.step()
    assert torch.allclose(module.a, torch.tensor([4.0, 2.25], dtype=torch.float64), atol=0.05)


def test_in_torch_compile():
    net = millstream.torch.wrap(settle)

    def f(w, b, x):
        out = net({"w": w, "b": b}, x * 1.0)
        return (out["h"] * 2).sum() + out["n"]

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for shift in (0.0, 1.0):
        w, b, x = parameters()
        f(w, b, x + shift).backward()
        wanted = w.grad.clone()
        w.grad = None
        value = compiled(w, b, x + shift)
        value.backward()
        assert torch.allclose(value, f(w, b, x + shift)) and torch.allclose(w.grad, wanted)


def test_the_operation_passes_torchs_own_checks():
    w, b, x = parameters()
    f = millstream.torch.wrap(lambda x: tf.sin(x) * 2)
    f(x)
    program = millstream.torch._programs[-1]
    torch.library.opcheck(torch.ops.millstream.call.default, ([x], program.number), test_utils=("test_schema", "test_faketensor"))


def fails(match, f, *args, **kwargs):
    with pytest.raises(TypeError) as error:
        f(*args, **kwargs)
    assert re.search(match, str(error.value)), str(error.value)


def test_errors():
    f = millstream.torch.wrap(settle)
    good = torch.ones(3)
    fails(r"argument 0\['w'\] of `settle` \(.*\) is torch.complex64, which millstream.torch does not take: pass its real", f, {"w": torch.ones(3, 3, dtype=torch.complex64), "b": good}, good)
    fails(r"argument 1 of `settle` .* is torch.bfloat16.*x.float\(\)", f, {"w": good, "b": good}, good.bfloat16())
    fails("is on device `meta`, but Millstream computes on the CPU", f, {"w": torch.ones(3, 3, device="meta"), "b": good}, good)
    fails("has the layout torch.sparse_coo, but must be dense", f, {"w": torch.eye(3).to_sparse(), "b": good}, good)
    fails(r"takes a function, but got 3", millstream.torch.wrap, 3)
    with pytest.raises(TypeError, match="is not a tensor"):
        f({"w": good, "b": good}, object())


def test_transformations_of_torch_func():
    f, a = millstream.torch.wrap(root), torch.tensor([4.0, 9.0], dtype=torch.float64)
    assert torch.allclose(torch.vmap(f)(a), torch.tensor([2.0, 3.0], dtype=torch.float64))
    assert torch.allclose(torch.func.grad(f)(a[0]), torch.tensor(0.25, dtype=torch.float64))
    assert torch.allclose(torch.func.grad(torch.func.grad(f))(a[0]), torch.tensor(-1 / 32, dtype=torch.float64))
    assert torch.allclose(torch.vmap(torch.func.grad(f))(a), torch.tensor([1 / 4, 1 / 6], dtype=torch.float64))
    cubes = millstream.torch.wrap(lambda x: tf.reduce_sum(x * x * x))
    assert torch.allclose(torch.func.jacrev(torch.func.jacrev(cubes))(a), torch.diag(6 * a))
    products = millstream.torch.wrap(lambda x, y: {"p": x * y, "positive": x > 0})
    found = torch.vmap(products, in_dims=(1, None))(torch.arange(6.0).reshape(2, 3), torch.ones(2))
    assert found["p"].tolist() == [[0, 3], [1, 4], [2, 5]] and found["positive"].tolist() == [[False, True], [True, True], [True, True]]
    x = a.clone().requires_grad_()
    torch.vmap(f)(x).sum().backward()
    assert torch.allclose(x.grad, torch.tensor([1 / 4, 1 / 6], dtype=torch.float64))


def test_what_torch_func_cannot_do_is_refused():
    f = millstream.torch.wrap(root)
    with pytest.raises(NotImplementedError, match="forward-mode.*func.jvp"):
        torch.func.jvp(f, (torch.tensor(4.0),), (torch.tensor(1.0),))
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward-mode"):
        f(torch.autograd.forward_ad.make_dual(torch.tensor(4.0), torch.tensor(1.0)))
    with pytest.raises(ValueError, match="the batch is empty"):
        torch.vmap(f)(torch.zeros(0))


def test_decorator_forms_and_mistakes():
    @millstream.torch.wrap(static_argnums=1)
    def power(x, n):
        return x**n

    x = torch.tensor(2.0)
    assert power(x, 3) == 8 and millstream.torch.wrap(millstream.torch.wrap(lambda x: x * x))(x) == 4
    weight = torch.tensor(3.0, requires_grad=True)
    for f, match in [
        (lambda x: torch.sin(x), "do not compute with Millstream's tensors: use `tf"),
        (lambda x: x * weight, "Pass it as an argument, through which gradients flow"),
        (lambda x: x if x > 0 else -x, "branch by `func.cond`"),
    ]:
        with pytest.raises((TypeError, RuntimeError), match=match):
            millstream.torch.wrap(f)(x)
    with pytest.raises(TypeError, match="argument 1 is static but got"):
        power(x, [3])
