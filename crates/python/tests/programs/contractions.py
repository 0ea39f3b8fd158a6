"""`tf.einsum` by what is known of the shapes: values, static shapes, gradients, and the nodes it makes."""

import numpy as np

_SIZES = dict(zip("abcdehijklmnqz", [2, 3, 4, 5, 2, 3, 4, 2, 3, 4, 5, 2, 3, 4]))


def _contracted(tf, equation, *shapes):
    """Returns the static shape, the seed after the contraction and after its gradients, and all values."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        tensors = [tf.placeholder(tf.float32, shape) for shape in shapes]
        result = tf.einsum(equation, *tensors)
        seeds = [tf.get_seed(None)[1]]
        gradients = tf.gradients(result, tensors)
        seeds.append(tf.get_seed(None)[1])
        generator, feed = np.random.RandomState(0), {}
        for tensor, shape, labels in zip(tensors, shapes, equation.split("->")[0].split(",")):
            letters = labels.replace("...", "e" * (len(shape) - len(labels.replace("...", ""))))
            feed[tensor] = generator.randint(-3, 4, size=[_SIZES[c] for c in letters]).astype(np.float32)
        with tf.Session() as sess:
            return [equation, str(result.shape), seeds, sess.run([result] + gradients, feed)]


def of_matrices(tf):
    """A plain product reshapes only what is not known."""
    a, b = _SIZES["i"], _SIZES["j"]
    cases = [([a, b], [b, 3]), ([None, b], [b, 3]), ([None, None], [b, None]), ([None, None], [None, None])]
    return [_contracted(tf, equation, *shapes) for equation in ("ij,jk->ik", "ij,jk->ki") for shapes in cases]


def of_known_shapes(tf):
    """Axes of a group are in the order of their labels, and those that the result lacks are summed last."""
    sizes = _SIZES
    found = []
    for equation in ("ijk,k->ij", "ij,ij->", "i,j->ij", "ijk->ki", "ij->i", "ab,bc,cd->ad", "ab,cd->ad", "abc,bcd->ad", "ijkl,klm->ijm",
                     "ij,jk", "bhqk,bkhd->bqhd", "zq,aq->az", "ba,ac->bc"):
        shapes = [[sizes[c] for c in labels] for labels in equation.split("->")[0].split(",")]
        found.append(_contracted(tf, equation, *shapes))
    return found


def of_partly_known_shapes(tf):
    """Sizes that are not known come from one shape per side: the attention of Transformer-XL, for one."""
    sizes, found = _SIZES, []
    for equation, known in (("ibnd,jbnd->ijbn", "nd"), ("ibnd,jnd->ijbn", "nd"), ("ijbn,jbnd->ibnd", "bn"), ("ibd,ed->ibe", "ed"),
                            ("ij,ik->ijk", "j"), ("ab,bc,cd->ad", "c"), ("ijkl,klm->ijm", "k"), ("bhqk,bkhd->bqhd", "hd"), ("ij->ji", "")):
        shapes = [[sizes[c] if c in known else None for c in labels] for labels in equation.split("->")[0].split(",")]
        found.append(_contracted(tf, equation, *shapes))
    return found


def of_any_axes(tf):
    """Axes for which the equation has dots."""
    e, i, j, k = (_SIZES[c] for c in "eijk")
    cases = [("...ij,...jk->...ik", [None, i, j], [None, j, k]), ("...ij,...jk->...ik", [e, e, i, None], [e, e, None, k]),
             ("b...i,ij->b...j", [2 + 1, e, e, i], [i, j]), ("...i,i->...", [None, e, i], [i])]
    return [_contracted(tf, *case) for case in cases]
