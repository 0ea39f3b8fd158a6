"""`tf.logging`: the logger of the package."""

from millstream.framework import namespaces
from millstream.framework.logging import (
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    TaskLevelStatusMessage,
    WARN,
    debug,
    error,
    fatal,
    flush,
    get_verbosity,
    info,
    log,
    log_every_n,
    log_first_n,
    log_if,
    set_verbosity,
    vlog,
    warn,
    warning,
)

__dir__ = namespaces.dir_of(globals())
