"""`ClusterSpec`, which names the tasks of a cluster, and `Server`, a cluster of this process alone."""

from __future__ import annotations

import itertools
import threading
from typing import Any, Dict, List, Optional

from millstream.framework import errors, protos, targets

_ports = itertools.count(50000)


class ClusterSpec:
    """The tasks of a cluster: for each job, the addresses of its tasks.

    Args:
      cluster: A dict from the names of jobs to lists of addresses, or to dicts of addresses by task; a
        `ClusterDef`, or a `ClusterSpec`.

    Raises:
      TypeError: The argument is something else.

    Example:
      >>> cluster = tf.train.ClusterSpec({"worker": ["a:2222", "b:2222"], "ps": {1: "c:2222"}})
      >>> cluster.jobs, cluster.num_tasks("worker"), cluster.task_indices("ps")
      (['ps', 'worker'], 2, [1])
      >>> cluster.task_address("worker", 1), cluster.job_tasks("ps"), cluster.as_dict()["worker"]
      ('b:2222', [None, 'c:2222'], ['a:2222', 'b:2222'])
      >>> tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster
      True
    """

    def __init__(self, cluster: Any) -> None:
        self._tasks: Dict[str, Dict[int, str]] = {}
        if isinstance(cluster, ClusterSpec):
            self._tasks = {job: dict(tasks) for job, tasks in cluster._tasks.items()}
        elif isinstance(cluster, dict):
            for job, tasks in cluster.items():
                self._tasks[_text(job, "Job name")] = _addresses(job, tasks)
        elif getattr(getattr(cluster, "DESCRIPTOR", None), "full_name", None) == "tensorflow.ClusterDef":
            self._tasks = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                "`ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join("%r: %r" % (job, jobs[job]) for job in sorted(jobs)) + "})"

    def as_dict(self) -> Dict[str, Any]:
        """Returns a dict from jobs to lists of addresses, or to dicts if tasks are missing between others."""
        found: Dict[str, Any] = {}
        for job, tasks in self._tasks.items():
            dense = sorted(tasks) == list(range(len(tasks)))
            found[job] = [tasks[i] for i in range(len(tasks))] if dense else dict(tasks)
        return found

    def as_cluster_def(self) -> Any:
        """Returns a `ClusterDef`."""
        message = protos.ClusterDef()
        for job, tasks in sorted(self._tasks.items()):
            entry = message.job.add(name=job)
            for i, address in sorted(tasks.items()):
                entry.tasks[i] = address
        return message

    @property
    def jobs(self) -> List[str]:
        """The names of the jobs."""
        return sorted(self._tasks)

    def _of(self, job_name: str) -> Dict[int, str]:
        if job_name not in self._tasks:
            raise ValueError("No such job in cluster: %r" % job_name)
        return self._tasks[job_name]

    def num_tasks(self, job_name: str) -> int:
        """Returns the number of tasks of a job."""
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> List[int]:
        """Returns the indices of the tasks of a job."""
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Returns the address of a task.

        Raises:
          ValueError: The cluster has no such task.
        """
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError("No task with index %r in job %r" % (task_index, job_name))
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> List[Optional[str]]:
        """Returns the addresses of the tasks of a job, with None for those that are missing."""
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError("%s %r must be bytes or unicode" % (what, value))
    return value


def _addresses(job: Any, tasks: Any) -> Dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    elif not isinstance(tasks, dict):
        raise TypeError("The tasks for job %r must be a list or a dictionary from integers to strings." % job)
    return {int(i): _text(address, "Task address") for i, address in tasks.items()}


def _make_server_def(server_or_cluster_def: Any, job_name: Optional[str], task_index: Optional[int], protocol: Optional[str], config: Any) -> Any:
    """Returns a `ServerDef` of a cluster, or of another one with changes.

    Raises:
      TypeError: The first argument is of another type.
      ValueError: The task is not given although the cluster has several, or the job is not in it.
    """
    made = protos.ServerDef()
    if getattr(getattr(server_or_cluster_def, "DESCRIPTOR", None), "full_name", None) == "tensorflow.ServerDef":
        made.CopyFrom(server_or_cluster_def)
        if job_name is not None:
            made.job_name = job_name
        if task_index is not None:
            made.task_index = task_index
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError:
            words = "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
            raise TypeError(words) from None
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = cluster.jobs[0]
        if task_index is None:
            indices = cluster.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = indices[0]
        made.cluster.CopyFrom(cluster.as_cluster_def())
        made.job_name, made.task_index = job_name, task_index
    if protocol is not None:
        made.protocol = protocol
    elif not made.protocol:
        made.protocol = "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


class Server:
    """A server of a cluster whose only task it is, in this process. Sessions may have it as their target.

    A server of several tasks would need other processes, and is refused. One session of a server is open at a
    time; in TensorFlow, sessions share the variables of their server.

    Args:
      server_or_cluster_def: A `ClusterSpec`, or what one is made of, or a `ServerDef`, which the other
        arguments change.
      job_name: The name of the task's job; by default the only job.
      task_index: The index of the task; by default that of the only one.
      protocol: A part of the `ServerDef`, without effect: a server listens to nobody.
      config: A `ConfigProto`: a part of the `ServerDef`, without effect. Sessions have their own.
      start: If true, the server is started.

    Raises:
      TypeError: The cluster is of another type.
      ValueError: The task is not in the cluster, or is not given although the cluster has several.
      UnimplementedError: The cluster has several tasks.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> with tf.Session(server.target) as sess:
      ...     print(sess.run(tf.constant(1) + 1))
      2
      >>> other = tf.train.Server({"worker": ["localhost:0"]}, job_name="worker", start=False)
      >>> other.start()
      >>> other.target.startswith("grpc://localhost:"), other.server_def.job_name
      (True, 'worker')
      >>> wait = other.join  # A program whose other threads do the work ends with `wait()`.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: Optional[str] = None,
        task_index: Optional[int] = None,
        protocol: Optional[str] = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        self._server_def = _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        cluster, job_name, task_index = ClusterSpec(self._server_def.cluster), self._server_def.job_name, self._server_def.task_index
        if task_index not in cluster.task_indices(job_name):
            words = 'Task %d was not defined in job "%s"' % (task_index, job_name)
            raise errors.InvalidArgumentError(None, None, words)
        n = sum(cluster.num_tasks(job) for job in cluster.jobs)
        if n > 1:
            raise errors.UnimplementedError(
                None,
                None,
                "%s has %d tasks: a cluster has one task here, because sessions run in one process, on all its cores; "
                "leave the cluster out, and make a plain `tf.Session()`" % (cluster, n),
            )
        host, _, port = cluster.task_address(job_name, task_index).partition(":")
        self._target = "grpc://%s:%s" % (host or "localhost", next(_ports) if port in ("", "0") else port)
        self._stopped = threading.Event()
        if start:
            self.start()

    def start(self) -> None:
        """Starts the server."""
        targets.register(self._target)

    def join(self) -> None:
        """Waits for the end of the server, which is that of the process. Ctrl-C interrupts the wait."""
        while not self._stopped.wait(3600.0):
            pass

    @property
    def target(self) -> str:
        """The target for sessions."""
        return self._target

    @property
    def server_def(self) -> Any:
        """The cluster and the task, a `ServerDef`."""
        return self._server_def

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> "Server":
        """Returns a server of a cluster with one task, of the job `local`.

        Args:
          config: A `ConfigProto`.
          start: If true, the server is started.

        Returns:
          A `Server`.
        """
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)
