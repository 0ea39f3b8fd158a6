"""Graph attention networks: epochs of training through its own script, on a made graph."""

URL = "https://github.com/PetarV-/GAT"
COMMIT = "5af87e7fce2b90ae1cbd621cd58059036a3c7436"
NEEDS = ["scipy<1.8", "networkx<2.7"]


def prepare(data):
    pass


def drive(data, records):
    import watch
    watch.make_citations("data")
    watch.run_some(records, 40, "execute_cora.py")
