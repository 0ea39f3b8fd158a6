"""DeepMind's TRFL, of the time before TensorFlow Probability: its own unit tests."""

URL = "https://github.com/deepmind/trfl"
COMMIT = "f921fab0a22ef0f7ac9451768a22fc3c9e615a55"
NEEDS = ["six", "dm-sonnet==1.23"]


def prepare(data):
    pass


def drive(data, records):
    import watch
    watch.run_tests(records, ["trfl.%s_test" % name for name in MODULES])


MODULES = [
    "action_value_ops",
    "discrete_policy_gradient_ops",
    "dpg_ops",
    "indexing_ops",
    "pixel_control_ops",
    "policy_gradient_ops",
    "retrace_ops",
    "sequence_ops",
    "value_ops",
    "vtrace_ops",
]
