"""Output for users: graph pictures, tables of runs and sessions, progress, reprs."""

import io
import re
import sys
import threading
import time
import types
import xml.etree.ElementTree as xml

import pytest

import millstream as tf


def loop(limit, **kwargs):
    return tf.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0)], **kwargs)


def elements(svg, tag):
    return [e for e in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}" + tag)]


def test_a_graph_is_a_picture():
    with tf.Graph().as_default() as g:
        p = tf.placeholder(tf.bool, [], name="p")
        loop(10)
        tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
        svg = g.to_svg()
        texts = [e.text for e in elements(svg, "text")]
        assert {"loop while/while_context", "parallel_iterations 10", "cond is true", "cond is false", "Merge", "NextIteration"} <= set(texts)
        titles = [e.text.split("\n")[0] for e in elements(svg, "title") if e.text]
        names = [op.name for op in g.get_operations()]
        assert {name: titles.count(name) for name in names} == dict.fromkeys(names, 1)
        assert g._repr_svg_() == svg and svg in g._repr_html_()
        assert svg == g.to_svg(limit=None)


def test_a_large_graph_is_folded():
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [])
        for block in range(3):
            with tf.name_scope("block"):
                for _ in range(200):
                    x = x + 1.0
        svg = g.to_svg()
        assert "are folded into dashed boxes" in svg and "block_2/" in svg
        assert len(elements(svg, "rect")) < 300
        whole = g.to_svg(limit=None)
        assert "are folded" not in whole and len(elements(whole, "rect")) > 600
        part = g.to_svg(limit=None, scope="block_1")
        assert 200 < len(elements(part, "rect")) < len(elements(whole, "rect")) / 2


def test_no_text_of_a_graph_is_markup():
    with tf.Graph().as_default() as g:
        c = tf.constant("<script>alert(1)</script>")
        assert "<script" not in g._repr_html_() and "&lt;script&gt;" in g._repr_html_()
        with tf.Session() as sess:
            for shown in (c, c.op, sess.explain(c), sess.explain()):
                assert "<script" not in shown._repr_html_()


def test_explain_a_run():
    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [], name="n")
        unused = tf.constant(1.0, name="unused")
        _, total = tf.while_loop(
            lambda i, x: i < 20, lambda i, x: (i + 1, x * 2), [tf.constant(0), n], parallel_iterations=3, maximum_iterations=7, name="grow"
        )
        out = total + tf.constant(2) * tf.constant(3)
        with tf.Session() as sess:
            report = sess.explain({"out": out}, {n: 1})
            text = repr(report)
            assert report.rows[0][:2] == ["where", "nodes"] and report.rows[0][-2:] == ["iterations at a time", "at most"]
            assert report.rows[2][0].strip("\xa0") == "loop grow/while_context" and report.rows[2][-2:] == ["3", "7"]
            assert "computed beforehand: mul" in text and "Fed: n:0." in text and "Not fed" not in text
            assert "<td" in report._repr_html_() and "grow/while_context" in report._repr_html_()
            fates = {name: what for name, _, _, what in report.nodes}
            assert fates["mul"] == "computed beforehand" and fates["add"].startswith("kernel") and "unused" not in fates
            assert fates["n:0"] == "fed" and fates["grow/Merge"] == "bypassed"
            assert [(loop, time) for loop, _, _, time in report.code] == [("grow/while_context", None)]
            assert "outermost loop" in report.code[0][1] and report.machine_code == ""
            sess.run({"out": out}, {n: 1})
            ((_, _, size, time),) = sess.explain({"out": out}, {n: 1}).code
            assert size > 0 and time > 0
            assert "ret" in sess.explain(out, {n: 1}, machine_code=True).machine_code
            # Not declared as fed, and fed by name.
            assert "Not fed, so a run has to: n:0." in repr(sess.explain("add:0"))
            with pytest.raises(TypeError, match="Fetch argument 3 has invalid type"):
                sess.explain(3)
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            sess.explain(unused)


def test_explain_variables_in_loops():
    with tf.Graph().as_default():
        v = tf.Variable(0.0, use_resource=True)

        def body(i):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return tf.identity(i) + 1

        r = tf.while_loop(lambda i: i < 10, body, [tf.constant(0)], swap_memory=True)
        with tf.Session() as sess:
            text = repr(sess.explain(r))
            assert "one iteration at a time, not 10, because it writes variables" in text
            assert "swap_memory was asked for" in text


def test_explain_a_session():
    with tf.Graph().as_default():
        v = tf.Variable([[1.0, 2.0]], name="v")
        q = tf.FIFOQueue(3, [tf.int32], [[]], name="q")
        with tf.Session() as sess:
            assert "No variables, no queues." in repr(sess.explain())
            sess.run([v.initializer, q.enqueue(5)])
            report = sess.explain()
            assert ["variable", "v", "f32[1,2], 8 bytes"] in report.rows
            assert ["FIFOQueue", "q", "1 of 3 items, 1 in, 0 out"] in report.rows
            assert "1 run made ready so far" in report.notes[0]


def counter():
    """Builds a loop whose length is fed."""
    n = tf.placeholder(tf.int64, [], name="n")
    start = tf.constant(0, tf.int64)
    return tf.while_loop(lambda i: i < n, lambda i: i + 1, [start], parallel_iterations=1), n


def run_until(done, run):
    """Runs longer and longer loops until `done`, whatever the speed of the machine."""
    n = 1_000_000
    while not done():
        assert n < 2**40, "nothing was shown"
        assert run(n) == n
        n *= 2


def test_a_long_run_shows_itself():
    with tf.Graph().as_default():
        r, n = counter()
        out = io.StringIO()
        with tf.Session() as sess, sess.progress(file=out) as block:
            assert block is sess
            run_until(lambda: "ended" in out.getvalue(), lambda k: sess.run(r, {n: k}))
        # Without a terminal: one line soon after the start, and one at the end.
        first, last = out.getvalue().splitlines()
        assert re.match(r"loop `while`: iteration [\d,]+ of [\d,]+,000 \(\d+ %\).*; 0\.\d s", first), first
        assert re.match(r"ended after \d+\.\d s$", last), last


def test_a_terminal_line_is_written_over():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with tf.Graph().as_default():
        r, n = counter()
        out = Terminal()
        with tf.Session() as sess, sess.progress(file=out):
            run_until(lambda: "ended" in out.getvalue(), lambda k: sess.run(r, {n: k}))
    text = out.getvalue()
    assert text.startswith("\rloop `while`") and text.endswith("\n") and text.count("\n") == 1


def test_short_runs_and_other_threads_are_silent(capsys):
    with tf.Graph().as_default():
        r, n = counter()
        k = 1_000_000
        with tf.Session() as sess:
            with sess.progress():
                sess.run(r, {n: 10})
                took = 0.0
                while took < 0.7:
                    k *= 2
                    begin = time.perf_counter()
                    other = threading.Thread(target=sess.run, args=(r, {n: k}))
                    other.start()
                    other.join()
                    took = time.perf_counter() - begin
            sess.run(r, {n: k})
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_of_a_run_that_waits_and_fails(capsys):
    with tf.Graph().as_default():
        q = tf.FIFOQueue(3, [tf.int32], [[]])
        with tf.Session() as sess, sess.progress():
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(q.dequeue(), options=tf.RunOptions(timeout_in_ms=1100))
    lines = capsys.readouterr().err.splitlines()
    assert re.match(r"0\.\d s$", lines[0]) and re.match(r"ended after [1-9]\.\d s$", lines[-1]), lines


def test_a_callable_shows_itself_too():
    with tf.Graph().as_default():
        r, n = counter()
        out = io.StringIO()
        with tf.Session() as sess, sess.progress(file=out):
            call = sess.make_callable(r, [n])
            run_until(lambda: "ended" in out.getvalue(), call)


def test_a_notebook_gets_a_text_that_changes(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    shell.display = types.ModuleType("IPython.display")
    shell.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shell.display)
    with tf.Graph().as_default():
        r, n = counter()
        with tf.Session() as sess, sess.progress():
            run_until(lambda: shown, lambda k: sess.run(r, {n: k}))
    assert shown[0].startswith("loop `while`: iteration ") and shown[-1].startswith("ended after ")


def test_an_error_of_what_shows_is_no_error_of_the_run(monkeypatch):
    errors = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: errors.append(info.exc_value))

    class Full(io.StringIO):
        def write(self, text):
            raise OSError("no space")

    with tf.Graph().as_default():
        r, n = counter()
        with tf.Session() as sess, sess.progress(file=Full()):
            run_until(lambda: errors, lambda k: sess.run(r, {n: k}))
    assert isinstance(errors[0], OSError)


def test_reprs():
    with tf.Graph().as_default() as g:
        x = tf.constant([[1.0, 2.0]], name="x")
        assert repr(tf.TensorShape([None, 2])) == "TensorShape([Dimension(None), Dimension(2)])"
        assert (repr(tf.float32), repr(tf.Dimension(None))) == ("tf.float32", "Dimension(None)")
        assert (repr(x), repr(x.op)) == ("<tf.Tensor 'x:0' shape=(1, 2) dtype=float32>", "<tf.Operation 'x' type=Const>")
        html = x._repr_html_()
        assert all(part in html for part in ["x:0", "Const", "(1, 2)", "float32", "test_views.py:"])
        assert "test_views.py:" in tf.identity(x).op._repr_html_() and "x:0" in tf.identity(x).op._repr_html_()
        queue = tf.PaddingFIFOQueue(3, [tf.int32], [[None]], name="q")
        assert repr(queue) == "<tf.PaddingFIFOQueue 'q' dtypes=['int32'] shapes=['(?,)']>"
        assert repr(tf.FIFOQueue(3, [tf.int32], name="r")).startswith("<tf.FIFOQueue 'r' dtypes=['int32']")
        array = tf.TensorArray(tf.float32, 3, element_shape=[2])
        assert repr(array) == "<tf.TensorArray 'TensorArray' dtype=float32 element_shape=(2,)>"
        assert repr(tf.TextLineReader(name="lines")) == "<tf.TextLineReader 'lines'>"
        assert re.match(r"<tf.Graph with \d+ operations at 0x", repr(g))
        with tf.Session() as sess:
            assert re.match(r"<tf.Session over <tf.Graph .*>, open>$", repr(sess))
        assert repr(sess).endswith(", closed>")
