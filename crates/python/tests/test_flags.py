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


READER = """
import sys
import millstream as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("steps", 3, "How many.")
tf.app.flags.DEFINE_string(flag_name="word", default_value="a", docstring="A word.")
assert not FLAGS.is_parsed() and "steps" in FLAGS and FLAGS["steps"].value == 3
if "--set" in sys.argv:
    sys.argv.remove("--set")
    FLAGS.word = "set"
print(FLAGS.steps, FLAGS.word, FLAGS.is_parsed())
try:
    FLAGS.nothing
except AttributeError as error:
    print(error)
"""


def read(*arguments):
    done = subprocess.run([sys.executable, "-c", READER, *arguments], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


def test_flags_are_parsed_when_one_is_read():
    assert read() == ("3 a True\nnothing\n", "")
    assert read("--steps=5", "--word", "b", "rest") == ("5 b True\nnothing\n", "")
    assert read("--set") == ("3 set True\nnothing\n", "")
    assert "Unknown command line flag 'other'" in read("--other=1")[1]
