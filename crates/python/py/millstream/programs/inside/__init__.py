"""TensorFlow's internal modules and names that have more than a few lines here, by what they are about."""
