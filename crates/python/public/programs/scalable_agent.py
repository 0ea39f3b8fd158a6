"""IMPALA (deepmind): its test of V-trace, and its learner on made frames, instructions and actions.

Its environments in other processes are for Python 2.
"""

URL = "https://github.com/deepmind/scalable_agent"
COMMIT = "6c0c8a701990fab9053fb338ede9c915c18fa2b1"
NEEDS = ["six", "dm-sonnet==1.23"]
TOLERANCE = 1e-4


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import numpy as np
    import tensorflow as tf
    import watch
    watch.run_tests(records, ["vtrace_test"])
    tf.reset_default_graph()
    # One loads an operation written in C++, the other is a game.
    sys.modules.update({name: types.ModuleType(name) for name in ("dynamic_batching", "deepmind_lab")})
    import environments
    import experiment
    steps, batch, actions = 5, 2, len(environments.DEFAULT_ACTION_SET)
    flags = tf.app.flags.FLAGS
    flags(["experiment.py", "--unroll_length=4", "--batch_size=2", "--num_action_repeats=1"])
    flags.total_environment_frames = 1000

    def given(dtype, *shape):
        return tf.placeholder(dtype, (steps, batch) + shape)

    env = environments.StepOutput(
        given(tf.float32), environments.StepOutputInfo(given(tf.float32), given(tf.int32)), given(tf.bool),
        (given(tf.uint8, 24, 32, 3), given(tf.string)))
    agent_outputs = experiment.AgentOutput(given(tf.int32), given(tf.float32, actions), given(tf.float32))
    tf.train.get_or_create_global_step()
    agent = experiment.Agent(actions)
    state = agent.initial_state(batch)
    done, infos, frames = experiment.build_learner(agent, state, env, agent_outputs)
    generator = np.random.RandomState(3)
    words = np.array(["go to the door", "", "take the red key"], object)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run([done, infos, frames], {
                env.reward: generator.randn(steps, batch), env.info.episode_return: generator.randn(steps, batch),
                env.info.episode_step: generator.randint(0, 9, size=(steps, batch)), env.done: generator.rand(steps, batch) < 0.2,
                env.observation[0]: generator.randint(0, 256, size=(steps, batch, 24, 32, 3)),
                env.observation[1]: words[generator.randint(0, 3, size=(steps, batch))],
                agent_outputs.action: generator.randint(0, actions, size=(steps, batch)),
                agent_outputs.policy_logits: generator.randn(steps, batch, actions),
                agent_outputs.baseline: generator.randn(steps, batch)})
        records.add("variables", sess.run(tf.trainable_variables()))
