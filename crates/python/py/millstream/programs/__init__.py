"""Programs written for TensorFlow 1: `hook` makes their imports work, `check` lists the names they use."""
