"""Static shapes of tensors whose inputs are known in part, and the errors of shapes that do not fit."""

from programs.raised import WHOLE, caught


def _shapes(tf, text):
    """Returns the static shape that each line gives, or its error. In a line, `ph` is a placeholder."""

    def ph(shape, dtype=tf.float32):
        return tf.placeholder(dtype, shape)

    def shape(line):
        with tf.Graph().as_default():
            made = eval(line, {"tf": tf, "ph": ph})  # noqa: S307
            return str(getattr(made[0] if isinstance(made, list) else made, "shape", made))

    found = {}
    for line in filter(None, text.split("\n")):
        shown = caught(lambda: found.update({line: shape(line)}), WHOLE)
        if shown != "fine":
            found[line] = shown
    return found


def products(tf):
    return _shapes(
        tf,
        """
tf.matmul(ph([2,3]),ph([3,4]))
tf.matmul(ph([2,3]),ph([4,4]))
tf.matmul(ph([2,3]),ph([4,3]),transpose_b=True)
tf.matmul(ph([2,3]),ph([3]))
tf.matmul(ph(None),ph([3,4]))
tf.matmul(ph([5,2,3]),ph([5,3,4]))
tf.matmul(ph([5,2,3]),ph([6,3,4]))
tf.matmul(ph([5,2,3]),ph([3,4]))
tf.matmul(ph([None,2,3]),ph([5,3,None]))
tf.matmul(ph([5,2,3]),ph([5,4,4]))
tf.tensordot(ph([2,3]),ph([3,4]),1)
tf.tensordot(ph([2,3]),ph([4,4]),1)
tf.tensordot(ph([2,None]),ph([None,4]),[[1],[0]])
tf.tensordot(ph(None),ph([3,4]),1)
tf.einsum('ij,jk->ik',ph([2,None]),ph([3,4]))
tf.einsum('ij,jk->ik',ph([2,3]),ph([4,4]))
tf.einsum('bij,bjk->bik',ph([None,2,3]),ph([None,3,4]))
""",
    )


def shapes_as_inputs(tf):
    return _shapes(
        tf,
        """
tf.reshape(ph(None), tf.shape(ph([None,3])))
tf.reshape(ph(None), tf.shape(ph([2,3]))+1)
tf.reshape(ph(None), tf.shape(ph([2,None]))+1)
tf.reshape(ph(None), tf.shape(ph([2,3]))*2)
tf.reshape(ph(None), tf.shape(ph([2,None]))*2)
tf.reshape(ph(None), tf.shape(ph([2,None]))-1)
tf.reshape(ph(None), tf.concat([tf.shape(ph([2,None])),[4]],0))
tf.reshape(ph(None), tf.concat([tf.shape(ph(None)),[4]],0))
tf.reshape(ph(None), tf.stack([tf.shape(ph([2,None]))[1],4]))
tf.reshape(ph(None), [tf.shape(ph([2,None]))[1]*3,4])
tf.reshape(ph(None), tf.shape(ph([2,None,5]))[1:])
tf.reshape(ph(None), tf.shape(ph([2,None,5]))[:-1])
tf.reshape(ph(None), tf.shape(ph([2,None,5]))[::2])
tf.reshape(ph(None), tf.shape(ph([2,None,5]),out_type=tf.int64))
tf.reshape(ph(None), tf.stop_gradient(tf.shape(ph([2,None,5]))))
tf.reshape(ph(None), tf.reverse(tf.shape(ph([2,3,5])),[0]))
tf.reshape(ph(None), tf.gather(tf.shape(ph([2,3,5])),[2,0]))
tf.reshape(ph(None), tf.split(tf.shape(ph([2,None,5,6])),2)[1])
tf.reshape(ph(None), tf.squeeze([tf.shape(ph([2,None,5]))],0))
tf.reshape(ph(None), [-1, tf.reduce_prod(tf.shape(ph([2,3,4]))[1:])])
tf.reshape(ph([2,3,4]), [-1, tf.reduce_prod(tf.shape(ph([2,3,4]))[1:])])
tf.reshape(ph([None,3,4]), [-1, 12])
tf.reshape(ph([None,3,4]), [-1, 6])
tf.reshape(ph([None,3,4]), [6,-1])
tf.reshape(ph([2,3,4]), [6,-1])
tf.reshape(ph([2,3,4]), [5,-1])
tf.reshape(ph([2,3,4]), [5,5])
tf.reshape(ph([2,3,4]), [-1,-1])
tf.reshape(ph([2,3,4]), ph([None],tf.int32))
tf.reshape(ph([2,3,4]), ph([2],tf.int32))
tf.reshape(ph([2,3,4]), ph(None,tf.int32))
tf.reshape(ph([2,3,4]), ph([2,2],tf.int32))
tf.reshape(ph([]), [])
tf.reshape(ph([0,3]), [-1,3])
tf.reshape(ph([0,3]), [0,-1])
tf.fill(tf.shape(ph([2,None])), 1.0)
tf.fill(ph([3],tf.int32), 1.0)
tf.fill(ph(None,tf.int32), 1.0)
tf.fill([2,-1], 1.0)
tf.fill([2], [1.0])
tf.zeros(tf.shape(ph([2,None])))
tf.ones(tf.shape(ph([2,None]))[:1])
tf.zeros_like(ph([2,None]))
tf.ones_like(ph(None))
tf.tile(ph([2,None]), [2,3])
tf.tile(ph([2,3]), [tf.shape(ph([4]))[0],1])
tf.tile(ph([2,3]), [tf.shape(ph([None]))[0],1])
tf.tile(ph(None), [2,3])
tf.tile(ph([2,3]), [2])
tf.tile(ph([2,3]), ph([None],tf.int32))
tf.tile(ph([2,3]), [2,-1])
tf.range(5)
tf.range(tf.shape(ph([5]))[0])
tf.range(tf.shape(ph([None]))[0])
tf.range(2, 10, 3)
tf.range(2, 10, tf.shape(ph([3]))[0])
tf.range(10, 2)
tf.range(0, 10, 0)
tf.range(1.0, 2.0, 0.3)
tf.range(ph([],tf.int32), 5)
tf.range([1], 5)
tf.slice(ph([5,None]),[1,0],[2,-1])
tf.slice(ph([5,None]),[1,0],[-1,-1])
tf.slice(ph([5,None]),[1,0],ph([2],tf.int32))
tf.slice(ph([5,None]),ph([2],tf.int32),[2,3])
tf.slice(ph([5,None]),ph([None],tf.int32),[2,3])
tf.slice(ph(None),[1,0],[2,3])
tf.slice(ph(None),ph([2],tf.int32),ph([2],tf.int32))
tf.slice(ph([5,6]),[1],[2])
tf.slice(ph([5,6]),[1,0],[2])
tf.slice(ph([5,6]),[4,0],[2,2])
tf.slice(ph([5,6]),[0,0],[6,2])
tf.slice(ph([5,6]),[-1,0],[2,2])
tf.slice(ph([5,6]),[1,0],[-2,2])
ph([5,None])[1:3]
ph([5,None])[1:3,2]
ph([5,None])[...,tf.newaxis]
ph([5,None])[:,:4]
ph([5,None])[-1]
ph([5,None])[5]
ph([5,None])[-6]
ph([5,None])[1:3,2,3]
ph([5,None])[ph([],tf.int32)]
ph([5,None])[ph([],tf.int32):]
ph([5,6])[:ph([],tf.int32)]
ph([5,6])[::0]
ph([5,6])[3:1]
ph([5,6])[10:]
ph(None)[1:3]
ph(None)[...,1]
ph([5,6])[tf.shape(ph([2]))[0]:]
ph([5,6])[...,...]
tf.strided_slice(ph([5,6]),[0],[2],[1])
tf.strided_slice(ph([5,6]),[0,0],[2],[1])
tf.strided_slice(ph([5,6]),ph([1],tf.int32),ph([1],tf.int32))
tf.strided_slice(ph([5,6]),ph([None],tf.int32),ph([None],tf.int32))
tf.pad(ph([2,None]),[[1,1],[2,2]])
tf.pad(ph([2,3]),ph([2,2],tf.int32))
tf.pad(ph([2,3]),[[1,1]])
tf.pad(ph([2,3]),[[1,1],[2,2],[3,3]])
tf.pad(ph(None),[[1,1],[2,2]])
tf.pad(ph([2,3]),[[-1,1],[2,2]])
tf.pad(ph([2,3]),[[1,1],[2,2]],'REFLECT')
tf.pad(ph([2,3]),[[4,1],[2,2]],'REFLECT')
tf.pad(ph([2,3]),[[tf.shape(ph([2]))[0],1],[2,2]])
ph([2,3])+ph([3])
ph([2,3])+ph([4])
ph([2,None])+ph([1,4])
ph([None])+ph([4])
ph(None)+ph([4])
ph([2,1])*ph([1,3])
tf.broadcast_to(ph([3]),[2,3])
tf.broadcast_to(ph([4]),[2,3])
tf.broadcast_to(ph([3]),ph([2],tf.int32))
tf.broadcast_to(ph([2,3,4]),[3,4])
tf.reshape(ph(None), tf.broadcast_dynamic_shape(tf.shape(ph([2,1])),tf.shape(ph([3]))))
""",
    )


def sparse_tensors(tf):
    return _shapes(
        tf,
        """
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ph([2],tf.int32),logits=ph([2,4]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ph([3],tf.int32),logits=ph([2,4]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ph([3,2],tf.int32),logits=ph([2,4]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ph([],tf.int32),logits=ph([]))
tf.sparse_segment_sum(ph([4,3]),ph([2],tf.int32),ph([3],tf.int32))
tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32,[2,3]),ph([3,4]))
tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32,[2,3]),ph([4,4]))
tf.sparse_placeholder(tf.float32,[2,None]).shape
tf.sparse_placeholder(tf.float32).dense_shape
tf.sparse_tensor_to_dense(tf.sparse_placeholder(tf.float32,[2,3]))
tf.sparse_tensor_to_dense(tf.sparse_placeholder(tf.float32))
tf.sparse_reshape(tf.SparseTensor([[0,0]],[1.0],[2,3]),[3,-1]).shape
tf.sparse_reduce_sum(tf.SparseTensor([[0,0]],[1.0],[2,3]),1)
tf.sparse_add(tf.SparseTensor([[0,0]],[1.0],[2,3]),tf.SparseTensor([[0,0]],[1.0],[2,3])).shape
tf.sparse_concat(0,[tf.SparseTensor([[0,0]],[1.0],[2,3]),tf.SparseTensor([[0,0]],[1.0],[2,3])]).shape
tf.sparse_slice(tf.SparseTensor([[0,0]],[1.0],[2,3]),[0,0],[1,2]).shape
tf.SparseTensor(ph([None,2],tf.int64),ph([None]),ph([2],tf.int64)).shape
tf.SparseTensor(ph([None,2],tf.int64),ph([None]),tf.shape(ph([2,None]),out_type=tf.int64)).shape
tf.SparseTensor(ph([3,2],tf.int64),ph([4]),[2,3])
tf.SparseTensor(ph([3,2],tf.int64),ph([3]),[2,3,4])
tf.SparseTensor(ph([3],tf.int64),ph([3]),[2,3])
tf.edit_distance(tf.SparseTensor([[0,0]],[1.0],[2,3]),tf.SparseTensor([[0,0]],[1.0],[2,3]))
""",
    )


def rows(tf):
    return _shapes(
        tf,
        """
tf.gather(ph([5,None]),ph([2,3],tf.int32))
tf.gather(ph([5,None,7]),ph([2,3],tf.int32),axis=1)
tf.gather(ph([5,None,7]),ph([2,3],tf.int32),axis=-1)
tf.gather(ph([]),ph([2],tf.int32))
tf.gather(ph([5]),ph(None,tf.int32))
tf.gather(ph(None),ph([2],tf.int32))
tf.gather(ph([5,6]),ph([2],tf.int32),axis=2)
tf.gather(ph([5,6]),ph([2],tf.int32),axis=ph([],tf.int32))
tf.batch_gather(ph([5,6]),ph([5,2],tf.int32))
tf.gather_nd(ph([5,6,7]),ph([3,2],tf.int32))
tf.gather_nd(ph([5,6,7]),ph([3,None],tf.int32))
tf.gather_nd(ph([5,6,7]),ph([3,4],tf.int32))
tf.gather_nd(ph([5,6,7]),ph([3,0],tf.int32))
tf.scatter_nd(ph([3,1],tf.int32),ph([3,4]),[8,4])
tf.scatter_nd(ph([3,1],tf.int32),ph([3,4]),[8,5])
tf.scatter_nd(ph([3,1],tf.int32),ph([2,4]),[8,4])
tf.scatter_nd(ph([None,1],tf.int32),ph([3,4]),ph([2],tf.int32))
tf.nn.top_k(ph([2,None]),2)[0]
tf.nn.top_k(ph([2,3]),4)[0]
tf.nn.top_k(ph([2,3]),ph([],tf.int32))[0]
tf.nn.top_k(ph([]),1)[0]
tf.nn.in_top_k(ph([2,3]),ph([3],tf.int32),1)
tf.nn.in_top_k(ph([2,3]),ph([2],tf.int32),1)
tf.where(ph([2,None],tf.bool))
tf.where(ph([2],tf.bool),ph([2,3]),ph([2,3]))
tf.where(ph([3],tf.bool),ph([2,3]),ph([2,3]))
tf.where(ph([2,3],tf.bool),ph([2,3]),ph([2,4]))
tf.where(ph([],tf.bool),ph([2,3]),ph([2,3]))
tf.boolean_mask(ph([2,3]),ph([2],tf.bool))
tf.boolean_mask(ph([2,3]),ph([2,3],tf.bool))
tf.boolean_mask(ph([2,3]),ph(None,tf.bool))
tf.boolean_mask(ph([2,3]),ph([4],tf.bool))
tf.boolean_mask(ph([2,3]),ph([],tf.bool))
tf.broadcast_dynamic_shape(tf.shape(ph([2,1])),tf.shape(ph([3])))
tf.unique(ph([None]))[0]
tf.unique(ph([2,3]))[0]
tf.dynamic_partition(ph([4,3]),ph([4],tf.int32),2)[0]
tf.dynamic_partition(ph([4,3]),ph([3],tf.int32),2)[0]
tf.dynamic_stitch([[0,1],[2]],[ph([2,3]),ph([1,3])])
tf.dynamic_stitch([[0,1],[2]],[ph([2,3]),ph([1,4])])
tf.segment_sum(ph([4,3]),ph([4],tf.int32))
tf.segment_sum(ph([4,3]),ph([4,1],tf.int32))
tf.segment_sum(ph([]),ph([4],tf.int32))
tf.unsorted_segment_sum(ph([4,3]),ph([4],tf.int32),5)
tf.unsorted_segment_sum(ph([4,3]),ph([5],tf.int32),5)
tf.unsorted_segment_sum(ph([4,3]),ph([4],tf.int32),-1)
tf.unsorted_segment_sum(ph([4,3]),ph([4],tf.int32),ph([],tf.int32))
""",
    )


def joined_and_split(tf):
    return _shapes(
        tf,
        """
tf.concat([ph([2,None]),ph([None,3])],0)
tf.concat([ph([2,None]),ph([None,3])],1)
tf.concat([ph([2,None]),ph([3,3])],1)
tf.concat([ph([2,None]),ph([3])],0)
tf.concat([ph(None),ph([3,4])],0)
tf.concat([ph([2,3]),ph([2,3])],2)
tf.concat([ph([2,3]),ph([2,3])],ph([],tf.int32))
tf.concat([ph([]),ph([])],0)
tf.concat([ph([2,3])],0)
tf.concat([ph([2,3]),ph([2,3])],-3)
tf.stack([ph([2,None]),ph([None,3])])
tf.stack([ph([2,None]),ph([None,3])],axis=1)
tf.stack([ph([2,None]),ph([None,3])],axis=-1)
tf.stack([ph([2,3]),ph([2,3])],axis=-4)
tf.stack([ph(None),ph([3])])
tf.stack([])
tf.concat([],0)
tf.unstack(ph([2,None]))[0]
tf.unstack(ph([2,None]),axis=1)
tf.unstack(ph([2,None]),num=3,axis=1)[0]
tf.unstack(ph([2,None]),num=3)[0]
tf.unstack(ph(None),num=3)[0]
tf.unstack(ph(None))
tf.unstack(ph([2,3]),axis=2)
tf.split(ph([4,None]),2)[0]
tf.split(ph([4,None]),3)[0]
tf.split(ph([4,None]),2,axis=1)[0]
tf.split(ph([4,None]),[1,3])[1]
tf.split(ph([4,None]),[1,2])[1]
tf.split(ph([4,None]),[1,-1])[1]
tf.split(ph(None),2)[0]
tf.split(ph([4]),2,axis=1)[0]
tf.split(ph([4]),ph([2],tf.int32))[0]
tf.split(ph([4]),ph([None],tf.int32))[0]
tf.split(ph([4]),ph([None],tf.int32),num=2)[0]
tf.split(ph([4]),ph([],tf.int32))
tf.add_n([ph([2,None]),ph([None,3])])
tf.add_n([ph([2]),ph([3])])
tf.add_n([])
tf.accumulate_n([ph([2,3]),ph([2,3])])
tf.accumulate_n([ph([2,3]),ph([3,3])])
tf.string_join([ph([2],tf.string),ph([],tf.string)])
tf.string_join([ph([2],tf.string),ph([3],tf.string)])
tf.parallel_stack([ph([2]),ph([2])])
""",
    )


def other_ops(tf):
    return _shapes(
        tf,
        """
tf.truncated_normal(tf.concat([tf.shape(ph([None,2]))[:1],[7]],0))
tf.expand_dims(ph([2,None]), 1)
tf.expand_dims(ph([2,None]), -1)
tf.expand_dims(ph([2,None]), 4)
tf.expand_dims(ph([2,None]), [0])
tf.expand_dims(ph([2,None]), [0,1])
tf.squeeze(ph([1,None,1]))
tf.squeeze(ph([1,2,1]))
tf.squeeze(ph([1,None,1]),[0])
tf.squeeze(ph([1,None,1]),[1])
tf.squeeze(ph([1,2,1]),[1])
tf.squeeze(ph([1,2,1]),[3])
tf.squeeze(ph(None),[0])
tf.transpose(ph([2,None,3]))
tf.transpose(ph([2,None,3]),[1,0,2])
tf.transpose(ph(None),[1,0,2])
tf.transpose(ph([2,None,3]),[1,0])
tf.transpose(ph([2,None,3]),[1,0,3])
tf.transpose(ph([2,None,3]),ph([3],tf.int32))
tf.transpose(ph(None),ph([3],tf.int32))
tf.transpose(ph([2,3]),ph(None,tf.int32))
tf.reverse(ph([2,3]),[0])
tf.reverse(ph([2,3]),[2])
tf.reverse(ph([2,3]),[0,0])
tf.reverse(ph([2,3]),[[0]])
tf.reverse_sequence(ph([2,None]),ph([None],tf.int32),1)
tf.reverse_sequence(ph([2,3]),ph([3],tf.int32),1)
tf.reverse_sequence(ph([2,3]),ph([2],tf.int32),2)
tf.reverse_sequence(ph([2,3]),ph([2],tf.int32),1,batch_axis=2)
tf.reverse_sequence(ph([2,3]),ph([2],tf.int32),0)
tf.reduce_sum(ph([2,None,4]),1)
tf.reduce_sum(ph([2,None,4]),[0,2])
tf.reduce_sum(ph([2,None,4]),-1,keepdims=True)
tf.reduce_sum(ph([2,None,4]),3)
tf.reduce_sum(ph([2,None,4]),ph([],tf.int32))
tf.reduce_sum(ph([2,None,4]),ph([],tf.int32),keepdims=True)
tf.reduce_sum(ph([2,None,4]),ph([2],tf.int32))
tf.reduce_sum(ph(None))
tf.reduce_sum(ph(None),keepdims=True)
tf.reduce_sum(ph(None),0)
tf.reduce_sum(ph([2,3]),[[0]])
tf.argmax(ph([2,None]),1)
tf.argmax(ph([2,None]),2)
tf.argmax(ph([2,None]),ph([],tf.int32))
tf.argmax(ph([]),0)
tf.cumsum(ph([2,None]),1)
tf.cumsum(ph([2,None]),2)
tf.cumsum(ph([2,None]),[0])
tf.nn.softmax(ph([]))
tf.nn.softmax(ph([2,3,4]),axis=1)
tf.nn.softmax(ph([2,3]),axis=5)
tf.nn.log_softmax(ph([]))
tf.nn.softmax_cross_entropy_with_logits(labels=ph([2,3]),logits=ph([2,3]))
tf.nn.softmax_cross_entropy_with_logits(labels=ph([2,3]),logits=ph([2,4]))
tf.nn.softmax_cross_entropy_with_logits(labels=ph(None),logits=ph([2,4]))
tf.nn.softmax_cross_entropy_with_logits(labels=ph([None,4]),logits=ph([2,None]))
tf.nn.sigmoid_cross_entropy_with_logits(labels=ph([2]),logits=ph([3]))
tf.nn.weighted_cross_entropy_with_logits(labels=ph([2]),logits=ph([3]),pos_weight=1.0)
tf.nn.bias_add(ph([2,3]),ph([3]))
tf.nn.bias_add(ph([2,3]),ph([4]))
tf.nn.bias_add(ph([3]),ph([3]))
tf.nn.bias_add(ph([2,3]),ph([3,1]))
tf.nn.bias_add(ph([2,3,4,5]),ph([3]),data_format='NCHW')
tf.nn.l2_loss(ph([2]))
tf.meshgrid(ph([3]),ph([None]))[0]
tf.diag(ph([2,None]))
tf.diag_part(ph([2,3,2,3]))
tf.diag_part(ph([2,3]))
tf.diag_part(ph([2,3,2]))
tf.matrix_diag(ph([2,3]))
tf.matrix_diag_part(ph([2,3,4]))
tf.matrix_set_diag(ph([2,3,3]),ph([2,3]))
tf.matrix_set_diag(ph([2,3,3]),ph([2,4]))
tf.matrix_band_part(ph([3]),0,0)
tf.matrix_inverse(ph([2,3]))
tf.cholesky(ph([None,3]))
tf.qr(ph([2,3]))[0]
tf.matrix_determinant(ph([2,3]))
tf.space_to_batch_nd(ph([1,4,4,1]),[2,2],[[0,0],[0,0]])
tf.space_to_batch_nd(ph([1,4,4,1]),[2,2],ph([2,2],tf.int32))
tf.space_to_batch_nd(ph([1,3,4,1]),[2,2],[[0,0],[0,0]])
tf.batch_to_space_nd(ph([4,2,2,1]),[2,2],[[0,0],[0,0]])
tf.batch_to_space_nd(ph([3,2,2,1]),[2,2],[[0,0],[0,0]])
tf.space_to_depth(ph([1,4,4,1]),2)
tf.space_to_depth(ph([1,3,4,1]),2)
tf.depth_to_space(ph([1,4,4,3]),2)
tf.sequence_mask(ph([2],tf.int32),5)
tf.sequence_mask(ph([2],tf.int32))
tf.sequence_mask(ph(None,tf.int32),5)
tf.clip_by_value(ph([2,3]),ph([3]),1.0)
tf.clip_by_value(ph([2]),ph([2,2]),1.0)
tf.squared_difference(ph([2]),ph([3]))
tf.histogram_fixed_width(ph([5]),[0.0,1.0],nbins=4)
tf.histogram_fixed_width(ph([5]),[0.0,1.0,2.0],nbins=4)
tf.substr(ph([2],tf.string),0,1)
tf.string_split(ph([2],tf.string)).values
tf.string_split(ph([],tf.string)).values
tf.ensure_shape(ph([2,None]),[None,3])
tf.ensure_shape(ph([2,None]),[3,None])
tf.ensure_shape(ph([2,None]),[3])
tf.placeholder_with_default(ph([2,3]),[None,3])
tf.placeholder_with_default(ph([2,3]),[None,4])
tf.placeholder_with_default([1,2],[None,4])
tf.nn.l2_normalize(ph([2,None]),0)
tf.nn.batch_normalization(ph([2,3]),ph([3]),ph([3]),None,None,1e-3)
tf.nn.lrn(ph([2,3,3]))
tf.roll(ph([2,3]),1,0)
tf.roll(ph([]),1,0)
tf.roll(ph([2,3]),[1,2],[0])
tf.cross(ph([2,3]),ph([2,3]))
tf.cross(ph([2,4]),ph([2,4]))
tf.invert_permutation(ph([2,3],tf.int32))
tf.unravel_index(ph([5],tf.int32),[2,3])
tf.setdiff1d(ph([None]),ph([3]))[0]
""",
    )
