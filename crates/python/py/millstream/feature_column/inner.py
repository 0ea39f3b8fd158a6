"""Names of TensorFlow's internal modules of feature columns, for programs that ask for the class of a column.

TensorFlow has two versions of each class, `_NumericColumn` and `NumericColumn`. They are one class here.
"""

from __future__ import annotations

from typing import Any, Dict, List

from millstream.feature_column import columns as _columns
from millstream.feature_column import inputs as _inputs
from millstream.feature_column.columns import (
    BucketizedColumn,
    Categorical as CategoricalColumn,
    Column as FeatureColumn,
    CrossedColumn,
    Dense as DenseColumn,
    EmbeddingColumn,
    Features as FeatureTransformationCache,
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    IndicatorColumn,
    NumericColumn,
    SequenceCategoricalColumn,
    SequenceDense as SequenceDenseColumn,
    SharedEmbeddingColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
    bucketized_column as _bucketized_column,
    categorical_column_with_hash_bucket as _categorical_column_with_hash_bucket,
    categorical_column_with_identity as _categorical_column_with_identity,
    categorical_column_with_vocabulary_file as _categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list as _categorical_column_with_vocabulary_list,
    crossed_column as _crossed_column,
    embedding_column as _embedding_column,
    indicator_column as _indicator_column,
    numeric_column as _numeric_column,
    sequence_lengths,
    weighted_categorical_column as _weighted_categorical_column,
)
from millstream.feature_column.owners import DenseFeatures as DenseFeatures, InputLayer as InputLayer, StateManager as StateManager
from millstream.feature_column.models import LinearModel as LinearModel, OldLinearModel as _OldLinearModel
from millstream.framework import name_scope

_LinearModel = _OldLinearModel
_StateManagerImpl = StateManager

_BucketizedColumn = BucketizedColumn
_CategoricalColumn = CategoricalColumn
_CrossedColumn = CrossedColumn
_DenseColumn = DenseColumn
_EmbeddingColumn = EmbeddingColumn
_FeatureColumn = FeatureColumn
_HashedCategoricalColumn = HashedCategoricalColumn
_IdentityCategoricalColumn = IdentityCategoricalColumn
_IndicatorColumn = IndicatorColumn
_LazyBuilder = FeatureTransformationCache
_NumericColumn = NumericColumn
_SequenceCategoricalColumn = SequenceCategoricalColumn
_SequenceDenseColumn = SequenceDenseColumn
_SharedEmbeddingColumn = SharedEmbeddingColumn
_VocabularyFileCategoricalColumn = VocabularyFileCategoricalColumn
_VocabularyListCategoricalColumn = VocabularyListCategoricalColumn
_WeightedCategoricalColumn = WeightedCategoricalColumn

_check_shape = _columns.checked_shape
_internal_input_layer = _inputs.input_layer
_to_sparse_input_and_drop_ignore_values = _columns._sparse
_verify_static_batch_size_equality = _inputs.check_rows
make_parse_example_spec_v2 = _inputs.make_parse_example_spec


def sequence_length_from_sparse_tensor(sp_tensor: Any, num_elements: int = 1) -> Any:
    """Returns the number of steps of each row of a sparse tensor, `num_elements` places to a step."""
    return sequence_lengths(sp_tensor, num_elements)


def _normalize_feature_columns(feature_columns: Any) -> List[Any]:
    """Returns columns in the order of their names; two of one name are an error."""
    return _inputs.ordered(feature_columns, FeatureColumn, "Items of feature_columns must be a <class 'FeatureColumn'>. Given: %s")


def _collect_leaf_level_keys(cross: Any) -> List[Any]:
    """Returns the keys of a crossed column, with those of crossed columns among them in their places."""
    return cross._leaves()


def _transform_features(features: Dict[str, Any], feature_columns: Any) -> Dict[Any, Any]:
    """Returns what each column makes of the features, by column."""
    columns = _normalize_feature_columns(feature_columns)
    found, inputs = {}, FeatureTransformationCache(features)
    with name_scope(None, "transform_features", list(features.values())):
        for column in columns:
            with name_scope(None, column.name):
                found[column] = inputs.get(column)
    return found


def is_feature_column_v2(feature_columns: Any) -> bool:
    """Returns True: TensorFlow's two versions of columns are one."""
    return True


__all__ = ["FeatureColumn", "LinearModel", "is_feature_column_v2", "make_parse_example_spec_v2", "sequence_length_from_sparse_tensor"]
