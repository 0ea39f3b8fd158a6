"""Programs with command-line flags: `tf.flags`, `tf.app.run`."""

import subprocess
import sys

PROGRAM = """
import millstream as tf

tf.app.flags.DEFINE_integer("steps", 3, "How many.")
FLAGS = tf.flags.FLAGS


def main(argv):
    print(FLAGS.steps, argv[1:])
    return 4


if __name__ == "__main__":
    tf.app.run()
"""


def called(*arguments):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_flags_are_read_and_the_rest_is_left():
    assert called("--steps=5", "a", "--unknown") == (4, "5 ['a', '--unknown']\n", "")
    assert called() == (4, "3 []\n", "")


def test_a_flag_of_another_kind_is_refused():
    code, said, error = called("--steps=many")
    assert (code, said) == (1, "") and "invalid literal" in error and "many" in error


def test_help_tells_of_the_flags():
    code, said, _ = called("--help")
    assert code == 1 and "How many." in said


def test_without_absl_it_is_said_what_to_install():
    program = "import sys; sys.modules['absl'] = None\nimport millstream as tf\ntf.flags"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "pip install absl-py" in done.stderr
