"""`tf.dtypes`: element types of tensors."""

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.framework.dtypes import *  # noqa: F403
from millstream.framework.dtypes import np_resource

if TYPE_CHECKING:
    from millstream._generated.endpoints_dtypes import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
