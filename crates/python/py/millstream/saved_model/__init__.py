"""SavedModels: directories with graphs and signatures, the values of their variables, and asset files.

The format is TensorFlow 1's: either can read the other's files.
"""

from millstream.saved_model import (
    builder,
    constants,
    loader,
    main_op,
    signature_constants,
    signature_def_utils,
    tag_constants,
    utils,
)
from millstream.saved_model.builder import SavedModelBuilder as Builder, simple_save
from millstream.saved_model.constants import *  # noqa: F403
from millstream.saved_model.loader import load, maybe_saved_model_directory
from millstream.saved_model.main_op import main_op_with_restore
from millstream.saved_model.signature_constants import *  # noqa: F403
from millstream.saved_model.signature_def_utils import (
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
from millstream.saved_model.tag_constants import *  # noqa: F403
from millstream.saved_model.utils import build_tensor_info, get_tensor_from_tensor_info

contains_saved_model = maybe_saved_model_directory
