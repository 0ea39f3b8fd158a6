"""`SessionManager`: creates sessions that are restored from a checkpoint, or initialized."""

from __future__ import annotations

import time
from typing import Any, Optional, Tuple

import numpy as np

from millstream.framework import errors, get_default_graph, logging
from millstream.framework.session import Session
from millstream.train.checkpoints import get_checkpoint_state


def _maybe_name(obj: Any) -> str:
    if obj is None:
        return "None"
    return obj.name if hasattr(obj, "name") else f"<no name for {type(obj)}>"


class SessionManager:
    """Creates sessions for a graph.

    Args:
      local_init_op: The operation that initializes state that is not saved.
      ready_op: A string tensor: the names of uninitialized variables. The model is ready if it is empty.
      ready_for_local_init_op: A string tensor: the names of uninitialized variables that `local_init_op`
        needs.
      graph: The graph; by default the default graph.
      recovery_wait_secs: The interval in seconds at which to check whether the model is ready.
      local_init_run_options: `RunOptions` for `local_init_op`.

    Raises:
      ValueError: `ready_for_local_init_op` is given without `local_init_op`.

    Example:
      >>> v = tf.Variable(3)
      >>> manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
      >>> sess = manager.prepare_session("", init_op=v.initializer)
      >>> print(sess.run(v))
      3
      >>> manager.recover_session("")[1]
      False
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op "
                f", ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Optional[str] = None,
        checkpoint_filename_with_path: Optional[str] = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> Tuple[Any, bool]:
        """Returns a session, and whether a checkpoint was restored into it."""
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        sess = Session(master, graph=self._graph, config=config)
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        assert checkpoint_dir is not None  # One of the two is given: see above.
        give_up = time.monotonic() + max_wait_secs
        state = get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait_for_checkpoint or give_up <= time.monotonic():
                return sess, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            state = get_checkpoint_state(checkpoint_dir)
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Optional[str] = None,
        checkpoint_filename_with_path: Optional[str] = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Any:
        """Returns a session that is restored from a checkpoint, or else initialized by `init_op` and
        `init_fn`.

        Args:
          master: Empty.
          init_op: The operation that initializes the model.
          saver: A `Saver`.
          checkpoint_dir: A directory to restore from.
          checkpoint_filename_with_path: A checkpoint to restore.
          wait_for_checkpoint: If true, waits for a checkpoint.
          max_wait_secs: The time to wait, in seconds.
          config: A `ConfigProto`.
          init_feed_dict: The feeds of `init_op`.
          init_fn: A function of the session.

        Returns:
          A `Session`.

        Raises:
          RuntimeError: The model is not ready afterwards.
        """
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        done, why = self._try_run_local_init_op(sess)
        if not done:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                f"Init op: {_maybe_name(init_op)}, init fn: {init_fn}, error: {why}"
            )
        ready, why = self._model_ready(sess)
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready.  "
                f"Init op: {_maybe_name(init_op)}, init fn: {init_fn}, "
                f"local_init_op: {self._local_init_op}, error: {why}"
            )
        return sess

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Optional[str] = None,
        checkpoint_filename_with_path: Optional[str] = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> Tuple[Any, bool]:
        """Returns a session, and whether it is ready because a checkpoint was restored into it.

        Arguments are those of `prepare_session`.

        Returns:
          A pair of a `Session` and a bool.
        """
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        done, why = self._try_run_local_init_op(sess)
        if not restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not done:
            logging.info("Restoring model from %s did not make model ready for local init: %s", source, why)
            return sess, False
        ready, why = self._model_ready(sess)
        if not ready:
            logging.info("Restoring model from %s did not make model ready: %s", source, why)
            return sess, False
        logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: Optional[float] = float("inf")) -> Any:
        """Returns a session whose model another process makes ready.

        Args:
          master: Empty.
          config: A `ConfigProto`.
          max_wait_secs: The time to wait, in seconds.

        Returns:
          A `Session`.

        Raises:
          tf.errors.DeadlineExceededError: The model was not ready in time.

        Example:
          >>> x = tf.constant(7)
          >>> print(tf.train.SessionManager().wait_for_session("").run(x))
          7
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        give_up = time.monotonic() + limit
        while True:
            sess = Session(master, graph=self._graph, config=config)
            why_not = None
            done, why_not_local = self._try_run_local_init_op(sess)
            if done:
                ready, why_not = self._model_ready(sess)
                if ready:
                    return sess
            sess.close()
            if give_up < time.monotonic() + self._recovery_wait_secs:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit:.0f} secs."
                )
            logging.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", why_not_local, why_not
            )
            time.sleep(self._recovery_wait_secs)

    def _model_ready(self, sess: Any) -> Tuple[bool, Optional[str]]:
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess: Any) -> Tuple[bool, Optional[str]]:
        return _ready(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_run_local_init_op(self, sess: Any) -> Tuple[bool, Optional[str]]:
        """Returns whether `local_init_op` has run, and if not, why."""
        if self._local_init_op is None:
            return True, None
        ready, why = self._model_ready_for_local_init(sess)
        if not ready:
            return False, why
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, sess: Any, message: str) -> Tuple[bool, Optional[str]]:
    """Returns whether `op` lists no uninitialized variables, and if not, a message that names them."""
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", message, str(error))
            raise
        return False, str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in value.ravel())
