"""The tags of graphs in SavedModels."""

GPU = "gpu"
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"
