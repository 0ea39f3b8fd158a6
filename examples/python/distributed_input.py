"""Two producers tokenise text and bucket it by length; two trainers, other processes, take the batches.

The queue of batches lives in a Valkey or Redis server:

    python distributed_input.py valkey://localhost:6379/words

Without an address the program starts a server of its own, if the machine has one.
"""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional, Tuple

import millstream as tf

LINES = [
    "the mill stands by the stream",
    "water",
    "a stream of small and large numbers runs through the mill by day and by night",
    "who grinds first",
    "stone on stone",
    "no mill grinds with water that is past",
    "flour",
    "the wheel turns as long as the water comes and stops when it does not",
]
REPEATS = 50
BATCH = 4
# Short, middling and long lines.
BOUNDARIES = [4, 9]


def batches_of_all() -> tf.PaddingFIFOQueue:
    """The queue in the server. An element is a batch of lines, as codes of letters, with their lengths."""
    types, shapes = [tf.int32, tf.int32], [[None, None], [None]]
    return tf.PaddingFIFOQueue(32, types, shapes, shared_name="batches")


def letters(line: tf.Tensor) -> Any:
    return tf.cast(tf.decode_raw(line, tf.uint8), tf.int32)


def produce(address: str, rank: int) -> None:
    """Reads every second line, makes numbers of its letters, and batches lines of similar length."""
    mine = LINES[rank::2]
    line = tf.train.string_input_producer(mine, num_epochs=REPEATS, shuffle=False).dequeue()
    codes = letters(line)
    words = tf.size(tf.string_split([line]).values)
    _, (batch, lengths) = tf.contrib.training.bucket_by_sequence_length(
        words, [codes, tf.size(codes)], BATCH, BOUNDARIES, dynamic_pad=True, allow_smaller_final_batch=True
    )
    put = batches_of_all().enqueue([batch, lengths])
    with tf.Session(address) as sess:
        sess.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        try:
            while True:
                sess.run(put)
        except tf.errors.OutOfRangeError:
            pass
        coordinator.request_stop()
        coordinator.join(threads)


def train(address: str, rank: int) -> None:
    """Counts the letters of the batches until no more come: a trainer would learn from them."""
    batch, lengths = batches_of_all().dequeue()
    lines, seen = 0, 0
    with tf.Session(address) as sess:
        try:
            while True:
                codes, sizes = sess.run([batch, lengths])
                lines, seen = lines + len(sizes), seen + int((codes > 0).sum())
        except tf.errors.OutOfRangeError:
            print(lines, seen, flush=True)


def free_port() -> int:
    """A port that nothing uses, below those that the system gives to connections."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def server() -> Tuple[str, subprocess.Popen[bytes]]:
    """Starts a server on a free port. Returns its address and the process."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        sys.exit("there is neither valkey-server nor redis-server: apt-get install valkey-server")
    port = free_port()
    folder = tempfile.mkdtemp()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    process = subprocess.Popen([program] + options, stdout=subprocess.DEVNULL)
    for _ in range(1000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.01)
    return "valkey://127.0.0.1:%d/words" % port, process


def main(address: Optional[str]) -> None:
    mine = None
    if address is None:
        address, mine = server()
    try:
        begin = lambda role, rank: subprocess.Popen(  # noqa: E731
            [sys.executable, __file__, address, role, str(rank)], stdout=subprocess.PIPE, text=True
        )
        producers = [begin("produce", rank) for rank in range(2)]
        trainers = [begin("train", rank) for rank in range(2)]
        if any(producer.wait() for producer in producers):
            sys.exit("a producer failed")
        with tf.Session(address) as sess:
            sess.run(batches_of_all().close())
        counts = [trainer.communicate()[0].split() for trainer in trainers]
    finally:
        if mine is not None:
            mine.kill()
    lines, seen = (sum(int(count[i]) for count in counts) for i in range(2))
    print("every line was seen once:", lines == len(LINES) * REPEATS)
    print("every letter was seen once:", seen == sum(map(len, LINES)) * REPEATS)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 3:
        {"produce": produce, "train": train}[arguments[1]](arguments[0], int(arguments[2]))
    else:
        main(arguments[0] if arguments else None)
