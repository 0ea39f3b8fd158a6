"""Reference and resource variables, and variable scopes.

- `variable`: `Variable`, `RefVariable`, `ResourceVariable`; `state_ops`: `assign` etc.;
- `scopes`: `variable_scope`, `get_variable`; `templates`: `make_template`; `partitions`: partitioned
  variables;
- `initializers`: initializers of variables;
- `collections`: lists of variables, and queries for uninitialized ones.
"""
