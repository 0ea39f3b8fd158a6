"""Nested loops, branches, arrays and mapped functions, written by `tools/compose.py`."""

from programs.tools import run


def composed_1002(tf):
    x1 = tf.constant([0.17, -0.81], tf.float32)
    x2 = tf.constant('a', tf.string)
    x3 = tf.constant([[0.88, 0.31], [0.38, 0.24], [0.4, -0.86]], tf.float32)
    x4 = tf.constant([[-0.17, 0.91], [-0.83, 0.62]], tf.float32)
    t5 = tf.tanh(tf.reduce_max(x1) * tf.reduce_sum(x3))
    t6 = tf.floormod(tf.maximum(tf.constant([[-2, -2], [0, -3], [0, -3]], tf.int32), tf.cast(x3, tf.int32)), 7)
    def f7():
        def f9(e8):
            return tf.tanh(tf.tanh(e8 * -1.1))

        t10 = tf.map_fn(f9, tf.cast(x1, tf.float64))
        def f12(i11):
            def f14(i13):
                return tf.tanh(t10)

            a15 = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, f14(i))), [0, tf.TensorArray(tf.float64, 3, element_shape=[2])])[1]
            t16 = a15.concat()[:2]
            return tf.tanh(tf.tanh(x1 * 0.66))

        a17 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f12(i))), [0, tf.TensorArray(tf.float32, 2, element_shape=[2])])[1]
        t18 = a17.stack()[0]
        return tf.tanh(tf.tanh(tf.constant([[-0.38, 0.36, -0.11], [-0.94, -0.31, -0.35]], tf.float32) * -0.56))

    def f19():
        def f20():
            def f22(i21):
                return tf.floormod(i21, 7)

            a23 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f22(i))), [0, tf.TensorArray(tf.int32, 1, element_shape=[])])[1]
            t24 = a23.read(0)
            t25 = tf.tanh(tf.stop_gradient(tf.cast(x4, tf.float64)) * tf.cast(x4, tf.float64))
            return tf.identity(x2)

        def f26():
            def f27():
                return tf.tanh(tf.tanh(tf.cast(x1, tf.float64) * -1.49))

            def f28():
                return tf.tanh(tf.tanh(tf.cast(x1, tf.float64) * -1.39))

            t29 = tf.cond(tf.identity(tf.less_equal(tf.cast(t5, tf.float64), -0.19)), f27, f28)
            return tf.identity(x2)

        t30 = tf.cond(tf.identity(tf.less(t5, 0.1)), f20, f26)
        def f32(i31):
            t33 = tf.tanh(tf.maximum(tf.constant([-0.83, -0.82, 0.81], tf.float64), tf.constant([-0.88, -0.1, -0.81], tf.float64)))
            t34 = tf.tanh(tf.square(x3) + x3)
            return tf.tanh(tf.tanh(tf.reduce_sum(t33) * 1.27))

        a35 = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, f32(i))), [0, tf.TensorArray(tf.float64, 3, element_shape=[])])[1]
        t36 = a35.stack()[0]
        return tf.tanh(tf.constant([[-0.49, 0.53, 0.04], [0.91, -0.63, 0.8]], tf.float32))

    t37 = tf.cond(tf.identity(tf.less(tf.reduce_sum(t6), 2)), f7, f19)
    t38 = tf.substr(tf.string_join([tf.constant(['b', 'c', 'a'], tf.string), tf.constant('a', tf.string)]), 0, 1)
    made = [t5, t6, t37, t38]
    found = tf.gradients(tf.reduce_sum(tf.cast(t5, tf.float64)) + tf.reduce_sum(tf.cast(t37, tf.float64)), [x1, x3, x4])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1045(tf):
    x1 = tf.constant([[-0.67, 0.33, -0.65], [-0.84, -1.0, 0.22]], tf.float64)
    x2 = tf.Variable([0.48, 0.58], dtype=tf.float64, use_resource=True)
    f5 = lambda i3, v4: i3 < tf.floormod(tf.constant(1, tf.int32), 4)
    def f6(i3, v4):
        t7 = tf.tanh(tf.where(x1 > 0, x1, -tf.cast(x1, tf.float64)))
        def f9(i8):
            t10 = tf.tanh(tf.constant([[0.43, -0.31], [-0.91, -0.08]], tf.float32) + tf.constant([[0.9, 0.63], [-0.06, 0.69]], tf.float32))
            return tf.tanh(x2)

        a11 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f9(i))), [0, tf.TensorArray(tf.float64, 2, element_shape=[2])])[1]
        t12 = a11.concat()[:2]
        return [i3 + 1, tf.tanh(v4)]

    w13 = tf.while_loop(f5, f6, [0, tf.cast(tf.constant([[-0.84, -0.94], [-0.04, 0.96], [0.53, -0.46]], tf.float32), tf.float32)], parallel_iterations=1)
    t14 = w13[1]
    def f16(e15):
        t17 = tf.tanh(tf.gather(x1, 1) * tf.constant([0.09, -0.41, -0.97], tf.float64))
        return tf.tanh(e15)

    t18 = tf.map_fn(f16, tf.constant([[-0.66, -0.13], [-0.16, 0.37]], tf.float32))
    f22 = lambda i19, v20, v21: i19 < tf.floormod(tf.constant(-1, tf.int32), 4)
    def f23(i19, v20, v21):
        def f24():
            f28 = lambda i25, v26, v27: i25 < 1
            def f29(i25, v26, v27):
                t30 = tf.tanh(tf.transpose(v20) + tf.constant([[-0.65, -0.52, 0.14], [-0.72, 0.18, -0.65]], tf.float32))
                return [i25 + 1, tf.tanh(tf.tanh(v26 * -0.38)), tf.tanh(x2)]

            w31 = tf.while_loop(f28, f29, [0, tf.cast(t14, tf.float32), tf.cast(x2, tf.float64)], swap_memory=True)
            t32 = w31[1]
            return tf.tanh(tf.tanh(tf.cast(i19, tf.float64) * 0.64))

        def f33():
            f38 = lambda i34, v35, v36, v37: i34 < 4
            def f39(i34, v35, v36, v37):
                return [i34 + 1, tf.tanh(v35), tf.tanh(v36), tf.tanh(t18)]

            w40 = tf.while_loop(f38, f39, [0, tf.cast(x2, tf.float64), tf.cast(tf.reduce_sum(x1), tf.float64), tf.cast(t18, tf.float32)], parallel_iterations=1)
            t41 = w40[2]
            return tf.tanh(t41)

        def f42():
            f47 = lambda i43, v44, v45, v46: i43 < 3
            def f48(i43, v44, v45, v46):
                t49 = tf.tanh(tf.reduce_sum(x2) - tf.reduce_max(v45))
                return [i43 + 1, tf.tanh(v20), tf.tanh(tf.cast(v45, tf.float64)), tf.identity(tf.constant(['a', 'b'], tf.string))]

            w50 = tf.while_loop(f47, f48, [0, tf.cast(v20, tf.float32), tf.cast(tf.cast(t18, tf.float64), tf.float64), tf.constant(['c', 'a'], tf.string)], parallel_iterations=1)
            t51 = w50[1]
            return tf.tanh(tf.reduce_sum(x2))

        t52 = tf.case([(tf.greater(tf.reduce_max(x1), 0.37), f24), (tf.greater(tf.cast(v21, tf.float64), -0.47), f33)], default=f42)
        return [i19 + 1, tf.tanh(t14), tf.tanh(v21)]

    w53 = tf.while_loop(f22, f23, [0, tf.cast(t14, tf.float32), tf.cast(tf.reduce_max(t18), tf.float32)], swap_memory=True)
    t54 = w53[2]
    made = [t14, t18, t54]
    found = tf.gradients(tf.reduce_sum(tf.cast(t14, tf.float64)) + tf.reduce_sum(tf.cast(t18, tf.float64)) + tf.reduce_sum(tf.cast(t54, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1050(tf):
    x1 = tf.Variable(0.75, dtype=tf.float64, use_resource=True)
    x2 = tf.placeholder_with_default(tf.constant([[-0.1, 0.53, 0.63], [-0.36, 0.65, -0.6]], tf.float64), [2, 3])
    x3 = tf.placeholder_with_default(tf.constant([1.0, 0.77, -0.09], tf.float64), [3])
    x4 = tf.placeholder_with_default(tf.constant([[2, 3, 3], [5, -1, 5]], tf.int32), [2, 3])
    def f6(i5):
        f11 = lambda i7, v8, v9, v10: i7 < 0
        def f12(i7, v8, v9, v10):
            f16 = lambda i13, v14, v15: i13 < 1
            def f17(i13, v14, v15):
                return [i13 + 1, tf.tanh(x2), tf.tanh(tf.tanh(tf.reduce_max(x2) * -0.82))]

            w18 = tf.while_loop(f16, f17, [0, tf.cast(x2, tf.float64), tf.cast(x1, tf.float64)], parallel_iterations=1)
            t19 = w18[2]
            t20 = tf.tanh(tf.stop_gradient(tf.fill([2], t19)) * v10)
            return [i7 + 1, tf.tanh(v8), tf.tanh(v9), tf.tanh(tf.tanh(v10 * 0.48))]

        w21 = tf.while_loop(f11, f12, [0, tf.cast(tf.constant([-0.06, 0.82], tf.float32), tf.float32), tf.cast(tf.cast(i5, tf.float32), tf.float32), tf.cast(tf.fill([2], x1), tf.float64)], parallel_iterations=1)
        t22 = w21[2]
        return tf.tanh(x1)

    a23 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f6(i))), [0, tf.TensorArray(tf.float64, 1, element_shape=[])])[1]
    t24 = a23.stack()[0]
    f28 = lambda i25, v26, v27: i25 < tf.floormod(tf.reduce_sum(x4), 4)
    def f29(i25, v26, v27):
        return [i25 + 1, tf.floormod(v26, 7), tf.tanh(v27)]

    w30 = tf.while_loop(f28, f29, [0, tf.cast(x4[0], tf.int32), tf.cast(tf.constant([-0.83, -0.91], tf.float64), tf.float64)], swap_memory=True)
    t31 = w30[2]
    f35 = lambda i32, v33, v34: i32 < tf.floormod(tf.reduce_sum(x4), 4)
    def f36(i32, v33, v34):
        def f38(i37):
            t39 = tf.tanh(tf.sin(x1) * tf.exp(x1 * 0.1))
            return tf.identity(tf.greater(i37, 1))

        a40 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f38(i))), [0, tf.TensorArray(tf.bool, 1, element_shape=[])])[1]
        t41 = a40.stack()[0]
        t42 = tf.tanh(tf.sin(tf.cast(t31, tf.float32)) * tf.exp(tf.cast(t31, tf.float32) * 0.1))
        return [i32 + 1, tf.tanh(tf.tanh(v33 * -1.23)), tf.tanh(tf.tanh(v34 * 0.83))]

    w43 = tf.while_loop(f35, f36, [0, tf.cast(tf.cast(x1, tf.float32), tf.float32), tf.cast(tf.cast(x4, tf.float32), tf.float32)], swap_memory=True)
    t44 = w43[2]
    t45 = tf.tanh(tf.square(t44[0]) + tf.gather(t44, 1))
    made = [t24, t31, t44, t45]
    found = tf.gradients(tf.reduce_sum(tf.cast(t24, tf.float64)) + tf.reduce_sum(tf.cast(t31, tf.float64)) + tf.reduce_sum(tf.cast(t44, tf.float64)) + tf.reduce_sum(tf.cast(t45, tf.float64)), [x1, x2, x3])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1092(tf):
    x1 = tf.placeholder_with_default(tf.constant([0.45, 0.98], tf.float32), [2])
    x2 = tf.Variable([0.67, 0.37, 0.06], dtype=tf.float32, use_resource=True)
    x3 = tf.constant([[0.49, 0.32], [0.68, 0.93]], tf.float32)
    x4 = tf.constant(['a', 'a', 'b'], tf.string)
    def f5():
        t6 = tf.tanh(tf.square(tf.constant([[0.99, 0.26, 0.22], [0.36, -0.31, -0.32]], tf.float32)) + tf.constant([[-0.65, -0.58, -0.06], [-0.93, 0.95, -0.75]], tf.float32))
        return tf.tanh(tf.tanh(tf.constant([[0.14, -0.23], [-0.43, 0.66], [-0.4, 0.66]], tf.float64) * -0.86))

    def f7():
        return tf.tanh(tf.constant([[-0.49, -0.75], [0.94, -0.41], [0.33, -0.59]], tf.float64))

    t8 = tf.cond(tf.identity(tf.less_equal(tf.reduce_sum(x1), -0.15)), f5, f7)
    t9 = tf.tanh(tf.stop_gradient(tf.constant([[0.37, -0.59, -0.07], [0.45, 0.47, 0.42]], tf.float32)) * tf.constant([[-0.45, 0.69, -0.3], [0.96, -0.33, 0.18]], tf.float32))
    def f11(i10):
        q12 = tf.FIFOQueue(9, tf.float64, [[]])
        with tf.control_dependencies([q12.enqueue(tf.identity(tf.reduce_sum(t8)))]):
            t13 = q12.dequeue()
        def f14():
            f18 = lambda i15, v16, v17: i15 < tf.floormod(i10, 4)
            def f19(i15, v16, v17):
                return [i15 + 1, tf.tanh(tf.tanh(v16 * 1.04)), tf.floormod(v17, 7)]

            w20 = tf.while_loop(f18, f19, [0, tf.cast(t8[0], tf.float64), tf.cast(tf.cast(x3, tf.int64), tf.int64)], maximum_iterations=2)
            t21 = w20[2]
            def f23(i22):
                t24 = tf.tanh(tf.stop_gradient(tf.reduce_sum(x2)) * tf.reduce_sum(t9))
                return tf.tanh(x1)

            a25 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f23(i))), [0, tf.TensorArray(tf.float32, 1, element_shape=[2])])[1]
            t26 = a25.stack()[0]
            return tf.tanh(tf.tanh(tf.cast(t21, tf.float64) * 1.46))

        def f27():
            def f30(s29, e28):
                t31 = tf.tanh(tf.fill([3], t13) + tf.cast(s29, tf.float64))
                t32 = tf.tanh(tf.sin(tf.fill([2], t13)) * tf.exp(tf.cast(x1, tf.float64) * 0.1))
                return tf.floormod(e28, 7)

            t33 = tf.scan(f30, tf.fill([2, 3], i10))
            return tf.tanh(tf.fill([2, 2], t13))

        def f34():
            def f35():
                t36 = tf.tanh(tf.maximum(tf.fill([2, 2], t13), tf.constant([[-0.03, 0.03], [-0.7, -0.37]], tf.float64)))
                t37 = tf.tanh(tf.reduce_sum(x2) - tf.reduce_sum(x3))
                return tf.floormod(tf.cast(x1, tf.int64), 7)

            def f38():
                t39 = tf.floormod(tf.cast(t8, tf.int64) + tf.cast(t8, tf.int64), 7)
                t40 = tf.tanh(tf.sin(tf.cast(t39, tf.float32)) * tf.exp(tf.transpose(t9) * 0.1))
                return tf.floormod(t39[0], 7)

            t41 = tf.cond(tf.identity(tf.less_equal(t13, 0.08)), f35, f38)
            t42 = tf.tanh(t9 * t9)
            return tf.tanh(tf.tanh(tf.cast(x3, tf.float64) * -0.02))

        t43 = tf.switch_case(tf.identity(i10), [f14, f27, f34])
        return tf.tanh(tf.fill([2], t13))

    a44 = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, f11(i))), [0, tf.TensorArray(tf.float64, 3, element_shape=[2])])[1]
    t45 = a44.read(2)
    made = [t8, t9, t45]
    found = tf.gradients(tf.reduce_sum(tf.cast(t8, tf.float64)) + tf.reduce_sum(tf.cast(t9, tf.float64)) + tf.reduce_sum(tf.cast(t45, tf.float64)), [x1, x2, x3])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1107(tf):
    x1 = tf.Variable([[-0.86, 0.71, 0.9], [-0.31, 0.14, -0.19]], dtype=tf.float32, use_resource=False)
    x2 = tf.placeholder_with_default(tf.constant([[-2, 3], [-3, -1]], tf.int32), [2, 2])
    def f3():
        def f6(s5, e4):
            t7 = tf.tanh(tf.sin(tf.constant([-0.51, 0.45, 0.11], tf.float64)) * tf.exp(tf.constant([-0.7, 0.21, 0.54], tf.float64) * 0.1))
            return tf.tanh(tf.tanh(s5 * 0.15))

        t8 = tf.foldl(f6, tf.transpose(x1))
        return tf.tanh(tf.stack([t8] * 2))

    def f9():
        def f11(i10):
            f14 = lambda i12, v13: i12 < tf.floormod(i10, 4)
            def f15(i12, v13):
                return [i12 + 1, tf.floormod(v13, 7)]

            w16 = tf.while_loop(f14, f15, [0, tf.cast(i10, tf.int32)])
            t17 = w16[1]
            def f20(s19, e18):
                t21 = tf.tanh(tf.constant([-0.17, -0.25, 0.29], tf.float64) + tf.constant([-0.82, 0.51, -0.8], tf.float64))
                return tf.tanh(tf.tanh(e18 * 0.53))

            t22 = tf.foldl(f20, x1[0], tf.constant(0.99, tf.float32))
            return tf.tanh(tf.constant([-0.4, 0.8], tf.float64))

        a23 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f11(i))), [0, tf.TensorArray(tf.float64, 2, element_shape=[2])])[1]
        t24 = a23.stack()[0]
        return tf.tanh(tf.tanh(tf.constant([[0.93, 0.55], [0.92, 0.63]], tf.float32) * -1.32))

    def f25():
        def f26():
            return tf.floormod(tf.constant([1, 3], tf.int64), 7)

        def f27():
            return tf.floormod(tf.constant([-2, 0], tf.int64), 7)

        def f28():
            return tf.floormod(tf.constant([5, 1], tf.int64), 7)

        t29 = tf.case([(tf.less_equal(tf.constant(0, tf.int32), 4), f26), (tf.less(tf.constant(0.33, tf.float64), -0.23), f27)], default=f28)
        return tf.tanh(tf.tanh(tf.cast(x2, tf.float32) * 0.92))

    t30 = tf.switch_case(tf.identity(tf.reduce_max(x2)), [f3, f9, f25])
    def f31():
        return tf.tanh(tf.tanh(tf.constant(-0.11, tf.float64) * -1.43))

    def f32():
        t33 = tf.tanh(tf.cast(x2, tf.float64) - tf.constant([[0.43, -0.59], [-0.16, 0.08]], tf.float64))
        t34 = tf.tanh(tf.constant([-0.93, -0.62, -0.67], tf.float32) + x1[0])
        return tf.tanh(tf.reduce_sum(t33))

    t35 = tf.cond(tf.identity(tf.greater(tf.reduce_max(x2), 1)), f31, f32)
    f38 = lambda i36, v37: i36 < tf.floormod(tf.reduce_max(x2), 4)
    def f39(i36, v37):
        def f42(s41, e40):
            t43 = tf.tanh(tf.square(tf.fill([3, 2], t35)) + tf.constant([[0.76, -0.2], [0.39, 0.32], [0.59, -0.19]], tf.float64))
            return tf.tanh(tf.tanh(e40 * 0.47))

        t44 = tf.scan(f42, tf.gather(x1, 1))
        return [i36 + 1, tf.tanh(tf.tanh(v37 * 1.09))]

    w45 = tf.while_loop(f38, f39, [0, tf.cast(tf.fill([2, 2], t35), tf.float64)])
    t46 = w45[1]
    t47 = tf.tanh(tf.sin(tf.constant([0.16, 0.84, 0.31], tf.float64)) * tf.exp(tf.fill([3], t35) * 0.1))
    made = [t30, t35, t46, t47]
    found = tf.gradients(tf.reduce_sum(tf.cast(t30, tf.float64)) + tf.reduce_sum(tf.cast(t35, tf.float64)) + tf.reduce_sum(tf.cast(t46, tf.float64)) + tf.reduce_sum(tf.cast(t47, tf.float64)), [x1])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1121(tf):
    x1 = tf.Variable([0.33, 0.33, -0.83], dtype=tf.float32, use_resource=True)
    x2 = tf.Variable(-0.89, dtype=tf.float32, use_resource=True)
    x3 = tf.placeholder_with_default(tf.constant(0.88, tf.float64), [])
    x4 = tf.constant([[-0.49, -0.37], [0.97, 0.03], [0.5, 0.4]], tf.float64)
    def f6(i5):
        def f9(s8, e7):
            f13 = lambda i10, v11, v12: i10 < tf.floormod(i5, 4)
            def f14(i10, v11, v12):
                return [i10 + 1, tf.floormod(v11, 7), tf.tanh(tf.tanh(x4 * -1.43))]

            w15 = tf.while_loop(f13, f14, [0, tf.cast(s8, tf.int32), tf.cast(x4, tf.float64)], maximum_iterations=2)
            t16 = w15[2]
            def f18(e17):
                t19 = tf.tanh(tf.maximum(x4, t16))
                t20 = tf.tanh(tf.transpose(t16) + tf.fill([2, 3], e17))
                return tf.tanh(tf.tanh(x3 * 0.2))

            t21 = tf.map_fn(f18, tf.cast(x1, tf.float64))
            return tf.floormod(s8, 7)

        t22 = tf.foldr(f9, tf.fill([3, 2], i5))
        t23 = tf.tanh(tf.sin(tf.reduce_sum(x4, 0)) * tf.exp(tf.fill([2], x3) * 0.1))
        return tf.tanh(tf.tanh(tf.fill([2], x2) * 0.91))

    a24 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f6(i))), [0, tf.TensorArray(tf.float32, 2, element_shape=[2])])[1]
    t25 = a24.read(1)
    f29 = lambda i26, v27, v28: i26 < 1
    def f30(i26, v27, v28):
        t31 = tf.tanh(tf.stack([t25] * 3) - tf.stack([t25] * 3))
        t32 = tf.floormod(tf.cast(x1, tf.int64) + tf.cast(x1, tf.int64), 7)
        return [i26 + 1, tf.tanh(tf.tanh(v27 * -0.78)), tf.tanh(x4)]

    w33 = tf.while_loop(f29, f30, [0, tf.cast(tf.constant([[-0.42, -0.76], [-0.25, -0.72]], tf.float32), tf.float32), tf.cast(x4, tf.float64)], maximum_iterations=4)
    t34 = w33[2]
    f39 = lambda i35, v36, v37, v38: i35 < tf.floormod(tf.cast(x3, tf.int32), 4)
    def f40(i35, v36, v37, v38):
        t41 = tf.tanh(tf.sin(t25) * tf.exp(t25 * 0.1))
        def f42():
            def f45(s44, e43):
                t46 = tf.tanh(tf.transpose(x4) + tf.transpose(t34))
                return tf.tanh(tf.tanh(tf.fill([2], x2) * -0.56))

            t47 = tf.foldr(f45, v36, tf.constant([0.4, -0.9], tf.float32))
            return tf.floormod(tf.fill([2], i35), 7)

        def f48():
            return tf.floormod(tf.cast(t25, tf.int32), 7)

        t49 = tf.cond(tf.identity(tf.greater(tf.reduce_max(t41), -0.35)), f42, f48)
        return [i35 + 1, tf.tanh(v36), tf.identity(v37), tf.floormod(v38, 7)]

    w50 = tf.while_loop(f39, f40, [0, tf.cast(tf.stack([t25] * 3), tf.float32), tf.constant([True, False], tf.bool), tf.cast(tf.constant([[5, 4, 3], [4, -2, 5]], tf.int32), tf.int32)])
    t51 = w50[1]
    made = [t25, t34, t51]
    found = tf.gradients(tf.reduce_sum(tf.cast(t25, tf.float64)) + tf.reduce_sum(tf.cast(t34, tf.float64)) + tf.reduce_sum(tf.cast(t51, tf.float64)), [x1, x2, x3, x4])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1133(tf):
    x1 = tf.Variable([[0.61, 0.79], [-0.06, 0.14]], dtype=tf.float32, use_resource=False)
    x2 = tf.placeholder_with_default(tf.constant(True, tf.bool), [])
    x3 = tf.constant([-0.35, -0.13, 0.76], tf.float32)
    f7 = lambda i4, v5, v6: i4 < tf.floormod(tf.constant(0, tf.int32), 4)
    def f8(i4, v5, v6):
        return [i4 + 1, tf.tanh(v5), tf.tanh(v6)]

    w9 = tf.while_loop(f7, f8, [0, tf.cast(tf.constant([-0.27, -0.07], tf.float32), tf.float32), tf.cast(tf.constant([[0.53, 0.11], [0.19, 0.8], [0.71, -0.07]], tf.float32), tf.float32)], parallel_iterations=1)
    t10 = w9[2]
    def f12(i11):
        t13 = tf.tanh(tf.maximum(tf.constant([-0.12, 0.5], tf.float32), tf.constant([0.63, -0.23], tf.float32)))
        def f14():
            def f17(s16, e15):
                return tf.floormod(e15, 7)

            t18 = tf.foldr(f17, tf.fill([2, 2], i11), tf.constant([2, 0], tf.int32))
            f22 = lambda i19, v20, v21: i19 < tf.floormod(i11, 4)
            def f23(i19, v20, v21):
                t24 = tf.tanh(t10 + t10)
                t25 = tf.tanh(tf.transpose(v20) - tf.transpose(v20))
                return [i19 + 1, tf.tanh(tf.tanh(v20 * 0.98)), tf.tanh(v21)]

            w26 = tf.while_loop(f22, f23, [0, tf.cast(tf.cast(t10, tf.float64), tf.float64), tf.cast(x1, tf.float32)])
            t27 = w26[1]
            return tf.tanh(tf.tanh(tf.reduce_sum(t10) * 0.58))

        def f28():
            def f30(i29):
                t31 = tf.tanh(tf.constant([[0.54, 0.19], [-0.72, -0.67], [0.63, 0.27]], tf.float64) * tf.cast(t10, tf.float64))
                return tf.tanh(tf.tanh(t13 * -0.39))

            a32 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f30(i))), [0, tf.TensorArray(tf.float32, 1, element_shape=[2])])[1]
            t33 = a32.concat()[:2]
            return tf.tanh(tf.reduce_sum(t13))

        t34 = tf.cond(tf.identity(tf.greater(i11, 3)), f14, f28)
        return tf.tanh(tf.cast(t34, tf.float64))

    a35 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f12(i))), [0, tf.TensorArray(tf.float64, 2, element_shape=[])])[1]
    t36 = a35.stack()[0]
    def f39(s38, e37):
        t40 = tf.tanh(tf.sin(x3) * tf.exp(x3 * 0.1))
        return tf.tanh(tf.tanh(e37 * 0.45))

    t41 = tf.foldr(f39, x3, tf.constant(-0.66, tf.float32))
    made = [t10, t36, t41]
    found = tf.gradients(tf.reduce_sum(tf.cast(t10, tf.float64)) + tf.reduce_sum(tf.cast(t36, tf.float64)) + tf.reduce_sum(tf.cast(t41, tf.float64)), [x1, x3])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1149(tf):
    x1 = tf.constant([[-0.17, -0.04, -0.96], [-0.73, 0.85, 0.78]], tf.float64)
    x2 = tf.placeholder_with_default(tf.constant([-0.99, 0.67], tf.float64), [2])
    def f3():
        return tf.tanh(tf.constant([-0.34, 0.99, 0.6], tf.float64))

    def f4():
        t5 = tf.tanh(tf.square(tf.stack([x2] * 3)) + tf.stack([x2] * 3))
        t6 = tf.tanh(x1 + x1)
        return tf.tanh(tf.reduce_sum(x1, 0))

    t7 = tf.cond(tf.identity(tf.less_equal(tf.reduce_sum(x1), 0.41)), f3, f4)
    def f8():
        return tf.tanh(tf.tanh(tf.cast(x1, tf.float64) * 1.31))

    def f9():
        def f10():
            def f12(i11):
                t13 = tf.tanh(tf.stop_gradient(tf.cast(x1, tf.float32)) * tf.cast(x1, tf.float32))
                return tf.tanh(tf.constant(0.66, tf.float32))

            a14 = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, f12(i))), [0, tf.TensorArray(tf.float32, 3, element_shape=[])])[1]
            t15 = a14.stack()[0]
            t16 = tf.floormod(tf.maximum(tf.constant([[-1, 4], [1, -3]], tf.int32), tf.constant([[-1, 5], [5, 0]], tf.int32)), 7)
            return tf.tanh(tf.cast(t16, tf.float64))

        def f17():
            return tf.tanh(tf.constant([[-0.63, -0.84], [0.22, 0.53]], tf.float64))

        def f18():
            t19 = tf.tanh(tf.square(tf.constant(-0.72, tf.float64)) + tf.reduce_max(x1))
            return tf.tanh(tf.fill([2, 2], t19))

        t20 = tf.case([(tf.greater(tf.reduce_sum(x2), 0.03), f10), (tf.greater(tf.constant(-0.93, tf.float32), 0.09), f17)], default=f18)
        return tf.tanh(tf.tanh(x1 * -0.69))

    def f21():
        def f22():
            return tf.floormod(tf.cast(x2, tf.int32), 7)

        def f23():
            f26 = lambda i24, v25: i24 < 3
            def f27(i24, v25):
                return [i24 + 1, tf.tanh(tf.tanh(v25 * -0.41))]

            w28 = tf.while_loop(f26, f27, [0, tf.cast(tf.constant([[-0.62, -0.71], [-0.23, 0.23], [-0.53, -0.27]], tf.float32), tf.float32)], maximum_iterations=2)
            t29 = w28[1]
            return tf.floormod(tf.cast(x2, tf.int32), 7)

        t30 = tf.cond(tf.identity(tf.less(tf.reduce_sum(x1), -0.33)), f22, f23)
        return tf.tanh(tf.tanh(x1 * 0.53))

    t31 = tf.switch_case(tf.identity(tf.constant(3, tf.int32)), [f8, f9, f21])
    def f33(i32):
        return tf.tanh(tf.tanh(x2 * 0.49))

    a34 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f33(i))), [0, tf.TensorArray(tf.float64, 2, element_shape=[2])])[1]
    t35 = a34.read(0)
    made = [t7, t31, t35]
    found = tf.gradients(tf.reduce_sum(tf.cast(t7, tf.float64)) + tf.reduce_sum(tf.cast(t31, tf.float64)) + tf.reduce_sum(tf.cast(t35, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1182(tf):
    x1 = tf.constant([-0.38, 0.0, -0.86], tf.float32)
    x2 = tf.placeholder_with_default(tf.constant(0.92, tf.float32), [])
    def f3():
        return tf.tanh(tf.constant([[-0.39, 0.88], [0.73, -0.71], [0.8, -0.82]], tf.float64))

    def f4():
        def f5():
            def f7(i6):
                t8 = tf.substr(tf.string_join([tf.constant([['a', 'a'], ['b', 'c']], tf.string), tf.constant('b', tf.string)]), 0, 1)
                return tf.tanh(tf.constant([-1.0, -0.79], tf.float32))

            a9 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f7(i))), [0, tf.TensorArray(tf.float32, 2, element_shape=[2])])[1]
            t10 = a9.read(0)
            def f11():
                t12 = tf.tanh(x1 * x1)
                t13 = tf.tanh(tf.stack([t10] * 3) + tf.stack([t10] * 3))
                return tf.tanh(tf.constant([[0.4, -0.67], [-0.35, -0.97]], tf.float64))

            def f14():
                return tf.tanh(tf.constant([[-0.06, -0.5], [0.09, 0.38]], tf.float64))

            t15 = tf.cond(tf.identity(tf.less(x2, 0.03)), f11, f14)
            return tf.tanh(t15)

        def f16():
            return tf.tanh(tf.constant([[-0.24, -0.25], [0.7, 0.67]], tf.float64))

        def f17():
            return tf.tanh(tf.tanh(tf.constant([[0.19, -0.55], [-0.8, 0.6]], tf.float64) * 0.04))

        t18 = tf.case([(tf.less_equal(tf.cast(x2, tf.int32), 0), f5), (tf.greater(x2, 0.2), f16)], default=f17)
        f22 = lambda i19, v20, v21: i19 < tf.floormod(tf.cast(x2, tf.int32), 4)
        def f23(i19, v20, v21):
            f28 = lambda i24, v25, v26, v27: i24 < tf.floormod(i19, 4)
            def f29(i24, v25, v26, v27):
                t30 = tf.substr(tf.string_join([tf.constant([['a', 'a'], ['a', 'b']], tf.string), tf.constant('c', tf.string)]), 0, 1)
                t31 = tf.tanh(tf.square(tf.cast(x1, tf.float64)) + tf.cast(x1, tf.float64))
                return [i24 + 1, tf.floormod(v25, 7), tf.tanh(tf.tanh(v26 * 0.2)), tf.tanh(tf.tanh(v27 * -1.35))]

            w32 = tf.while_loop(f28, f29, [0, tf.cast(tf.fill([2], i19), tf.int32), tf.cast(tf.fill([2, 3], x2), tf.float32), tf.cast(tf.fill([3, 2], x2), tf.float32)], parallel_iterations=1)
            t33 = w32[1]
            return [i19 + 1, tf.identity(v20), tf.tanh(tf.tanh(v21 * -0.36))]

        w34 = tf.while_loop(f22, f23, [0, tf.constant([[False, True], [False, False]], tf.bool), tf.cast(tf.fill([2, 2], x2), tf.float32)], swap_memory=True)
        t35 = w34[2]
        return tf.tanh(tf.constant([[0.67, -0.08], [0.59, 0.61], [0.89, 0.47]], tf.float64))

    t36 = tf.cond(tf.identity(tf.less(tf.cast(x2, tf.float64), -0.04)), f3, f4)
    def f38(i37):
        return tf.tanh(tf.tanh(tf.constant([-0.49, -0.28], tf.float32) * 0.4))

    a39 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f38(i))), [0, tf.TensorArray(tf.float32, 1, element_shape=[2])])[1]
    t40 = a39.stack()[0]
    made = [t36, t40]
    found = tf.gradients(tf.reduce_sum(tf.cast(t36, tf.float64)) + tf.reduce_sum(tf.cast(t40, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1188(tf):
    x1 = tf.constant([[True, True, True], [False, False, False]], tf.bool)
    x2 = tf.placeholder_with_default(tf.constant([2, 2, 0], tf.int32), [3])
    x3 = tf.constant([[0.8, 0.8], [0.04, -0.37], [0.57, -0.42]], tf.float32)
    x4 = tf.placeholder_with_default(tf.constant([0.62, 0.23], tf.float32), [2])
    f7 = lambda i5, v6: i5 < 3
    def f8(i5, v6):
        f12 = lambda i9, v10, v11: i9 < tf.floormod(i5, 4)
        def f13(i9, v10, v11):
            return [i9 + 1, tf.tanh(tf.tanh(v10 * -0.44)), tf.tanh(tf.tanh(v11 * 0.29))]

        w14 = tf.while_loop(f12, f13, [0, tf.cast(tf.cast(v6, tf.float64), tf.float64), tf.cast(tf.cast(x3, tf.float64), tf.float64)])
        t15 = w14[1]
        t16 = tf.tanh(tf.square(tf.stack([x4] * 2)) + tf.constant([[0.35, -0.73], [-0.24, 0.6]], tf.float32))
        return [i5 + 1, tf.tanh(v6)]

    w17 = tf.while_loop(f7, f8, [0, tf.cast(tf.constant([[-0.58, -0.92, -0.56], [0.39, 0.57, 0.66]], tf.float32), tf.float32)])
    t18 = w17[1]
    def f19():
        f22 = lambda i20, v21: i20 < tf.floormod(tf.reduce_max(x2), 4)
        def f23(i20, v21):
            def f26(s25, e24):
                return tf.floormod(s25, 7)

            t27 = tf.scan(f26, tf.cast(x3, tf.int32), tf.constant([0, 0], tf.int32))
            return [i20 + 1, tf.tanh(v21)]

        w28 = tf.while_loop(f22, f23, [0, tf.cast(tf.cast(t18, tf.float64), tf.float64)], maximum_iterations=3)
        t29 = w28[1]
        t30 = tf.tanh(t29 - t29)
        return tf.floormod(x2, 7)

    def f31():
        def f32():
            return tf.tanh(tf.cast(x4, tf.float64))

        def f33():
            return tf.tanh(tf.cast(x4, tf.float64))

        t34 = tf.cond(tf.identity(tf.less(tf.reduce_sum(x2), 3)), f32, f33)
        def f36(i35):
            return tf.floormod(tf.cast(t34, tf.int32), 7)

        a37 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f36(i))), [0, tf.TensorArray(tf.int32, 2, element_shape=[2])])[1]
        t38 = a37.read(1)
        return tf.floormod(x2, 7)

    t39 = tf.cond(tf.identity(tf.greater(tf.reduce_max(x2), 3)), f19, f31)
    def f40():
        t41 = tf.tanh(tf.square(x4) + x4)
        t42 = tf.tanh(tf.sin(tf.cast(t41, tf.float64)) * tf.exp(tf.cast(t41, tf.float64) * 0.1))
        return tf.tanh(tf.stack([x4] * 2))

    def f43():
        return tf.tanh(tf.stack([x4] * 2))

    t44 = tf.cond(tf.identity(tf.less(tf.constant(-0.34, tf.float64), 0.23)), f40, f43)
    t45 = tf.tanh(x4 + x4)
    made = [t18, t39, t44, t45]
    found = tf.gradients(tf.reduce_sum(tf.cast(t18, tf.float64)) + tf.reduce_sum(tf.cast(t44, tf.float64)) + tf.reduce_sum(tf.cast(t45, tf.float64)), [x3, x4])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1213(tf):
    x1 = tf.placeholder_with_default(tf.constant([[0.63, 0.64], [-0.35, -0.98], [-0.33, 0.23]], tf.float64), [3, 2])
    x2 = tf.constant([[0.65, -0.72, -0.82], [-0.04, 0.17, 0.91]], tf.float64)
    x3 = tf.constant([[1, -2], [4, -3]], tf.int32)
    def f4():
        def f6(i5):
            def f7():
                t8 = tf.tanh(tf.where(tf.constant([0.86, 0.47, 0.16], tf.float32) > 0, tf.constant([0.86, 0.47, 0.16], tf.float32), -tf.constant([-0.48, -0.08, 0.32], tf.float32)))
                t9 = tf.tanh(tf.stop_gradient(t8) * t8)
                return tf.tanh(x1)

            def f10():
                t11 = tf.tanh(tf.sin(tf.cast(i5, tf.float32)) * tf.exp(tf.cast(i5, tf.float32) * 0.1))
                return tf.tanh(tf.tanh(x1 * 0.13))

            t12 = tf.cond(tf.identity(tf.less_equal(i5, 3)), f7, f10)
            return tf.tanh(tf.reduce_sum(t12, 0))

        a13 = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a.write(i, f6(i))), [0, tf.TensorArray(tf.float64, 1, element_shape=[2])])[1]
        t14 = a13.stack()[0]
        t15 = tf.tanh(tf.stop_gradient(tf.cast(x2, tf.float32)) * tf.cast(x2, tf.float32))
        return tf.tanh(t15)

    def f16():
        return tf.tanh(tf.tanh(tf.constant([[0.22, -0.0, 0.43], [0.0, 0.34, -0.08]], tf.float32) * -1.45))

    def f17():
        f22 = lambda i18, v19, v20, v21: i18 < 0
        def f23(i18, v19, v20, v21):
            def f24():
                t25 = tf.tanh(tf.constant([-0.35, -0.94, 0.69], tf.float32) - tf.constant([-0.96, -0.3, -0.08], tf.float32))
                return tf.floormod(tf.cast(x1, tf.int32), 7)

            def f26():
                return tf.floormod(tf.fill([3, 2], i18), 7)

            t27 = tf.cond(tf.identity(tf.greater(tf.reduce_max(x1), 0.3)), f24, f26)
            def f30(s29, e28):
                t31 = tf.tanh(e28 - e28)
                return tf.tanh(tf.tanh(s29 * 1.46))

            t32 = tf.foldr(f30, tf.stack([v20] * 3), tf.constant([-0.19, 0.1], tf.float32))
            return [i18 + 1, tf.floormod(v19, 7), tf.tanh(v20), tf.floormod(tf.transpose(t27), 7)]

        w33 = tf.while_loop(f22, f23, [0, tf.cast(tf.cast(x2, tf.int64), tf.int64), tf.cast(tf.constant([-0.6, -0.88], tf.float32), tf.float32), tf.cast(tf.cast(x2, tf.int32), tf.int32)], swap_memory=True)
        t34 = w33[3]
        t35 = tf.tanh(tf.constant([0.33, -0.21, 0.32], tf.float64) - tf.gather(x2, 1))
        return tf.tanh(tf.cast(t34, tf.float32))

    t36 = tf.switch_case(tf.identity(tf.reduce_max(x3)), [f4, f16, f17])
    q37 = tf.FIFOQueue(9, tf.int64, [[2]])
    with tf.control_dependencies([q37.enqueue(tf.identity(tf.constant([5, 4], tf.int64)))]):
        t38 = q37.dequeue()
    def f40(i39):
        t41 = tf.tanh(tf.maximum(tf.reduce_sum(x2, 0), tf.constant([0.67, -0.65, 0.02], tf.float64)))
        return tf.tanh(tf.reduce_sum(x1))

    a42 = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, f40(i))), [0, tf.TensorArray(tf.float64, 3, element_shape=[])])[1]
    t43 = a42.stack()[0]
    made = [t36, t38, t43]
    found = tf.gradients(tf.reduce_sum(tf.cast(t36, tf.float64)) + tf.reduce_sum(tf.cast(t43, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1218(tf):
    x1 = tf.placeholder_with_default(tf.constant([-0.04, 0.18, -0.65], tf.float32), [3])
    x2 = tf.constant([[0.2, -0.01], [0.39, 0.95]], tf.float64)
    def f3():
        return tf.tanh(tf.cast(x2, tf.float32))

    def f4():
        t5 = tf.logical_and(tf.constant([[False, True], [True, True], [False, True]], tf.bool), tf.constant([[True, True], [False, True], [False, False]], tf.bool))
        return tf.tanh(tf.tanh(tf.constant([[-0.42, -0.52], [-0.68, -0.76]], tf.float32) * 0.45))

    t6 = tf.cond(tf.identity(tf.less_equal(tf.constant(5, tf.int32), 0)), f3, f4)
    def f7():
        f10 = lambda i8, v9: i8 < 0
        def f11(i8, v9):
            t12 = tf.tanh(tf.matmul(x2, x2))
            f16 = lambda i13, v14, v15: i13 < 4
            def f17(i13, v14, v15):
                t18 = tf.tanh(x1 + v9)
                t19 = tf.tanh(t6 - tf.cast(v15, tf.float32))
                return [i13 + 1, tf.tanh(tf.tanh(v14 * 1.49)), tf.tanh(tf.tanh(v15 * -1.35))]

            w20 = tf.while_loop(f16, f17, [0, tf.cast(tf.constant([[-0.99, -0.3], [0.67, -0.63], [-0.53, -0.85]], tf.float64), tf.float64), tf.cast(t12, tf.float64)], parallel_iterations=1)
            t21 = w20[2]
            return [i8 + 1, tf.tanh(tf.tanh(x1 * -0.95))]

        w22 = tf.while_loop(f10, f11, [0, tf.cast(x1, tf.float32)], maximum_iterations=1)
        t23 = w22[1]
        def f24():
            return tf.tanh(tf.tanh(t6 * -0.86))

        def f25():
            return tf.tanh(tf.tanh(t6 * -0.07))

        t26 = tf.cond(tf.identity(tf.less(tf.reduce_sum(t23), 0.46)), f24, f25)
        return tf.tanh(tf.constant([-0.18, -0.52], tf.float32))

    def f27():
        return tf.tanh(tf.constant([-0.73, -0.03], tf.float32))

    t28 = tf.cond(tf.identity(tf.less(tf.constant(5, tf.int32), 2)), f7, f27)
    def f29():
        t30 = tf.tanh(tf.stop_gradient(tf.reduce_sum(t28)) * tf.reduce_sum(t6))
        def f31():
            t32 = tf.tanh(tf.stop_gradient(t6) * t6)
            f35 = lambda i33, v34: i33 < tf.floormod(tf.cast(t30, tf.int32), 4)
            def f36(i33, v34):
                t37 = tf.floormod(tf.constant([[-1, 0], [-1, 3], [1, 2]], tf.int64) * tf.constant([[2, -2], [0, 2], [0, -3]], tf.int64), 7)
                return [i33 + 1, tf.tanh(tf.tanh(x1 * 0.14))]

            w38 = tf.while_loop(f35, f36, [0, tf.cast(x1, tf.float32)], parallel_iterations=1)
            t39 = w38[1]
            return tf.tanh(tf.tanh(tf.reduce_sum(x2) * 1.02))

        def f40():
            t41 = tf.tanh(tf.stop_gradient(tf.stack([x1] * 2)) * tf.constant([[-0.27, -0.12, 0.88], [-0.79, 0.49, 0.97]], tf.float32))
            return tf.tanh(tf.reduce_sum(x2))

        t42 = tf.cond(tf.identity(tf.less_equal(t30, 0.04)), f31, f40)
        return tf.tanh(t28)

    def f43():
        return tf.tanh(t28)

    t44 = tf.cond(tf.identity(tf.less_equal(tf.reduce_sum(x2), -0.43)), f29, f43)
    made = [t6, t28, t44]
    found = tf.gradients(tf.reduce_sum(tf.cast(t6, tf.float64)) + tf.reduce_sum(tf.cast(t28, tf.float64)) + tf.reduce_sum(tf.cast(t44, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]


def composed_1232(tf):
    x1 = tf.constant([-0.4, 0.1], tf.float64)
    x2 = tf.constant([[0.31, -0.21], [-0.42, -0.66]], tf.float32)
    t3 = tf.tanh(tf.maximum(tf.reduce_max(x1), tf.reduce_max(x1)))
    def f4():
        f8 = lambda i5, v6, v7: i5 < 0
        def f9(i5, v6, v7):
            return [i5 + 1, tf.tanh(v6), tf.identity(v7)]

        w10 = tf.while_loop(f8, f9, [0, tf.cast(tf.reduce_max(x2), tf.float32), tf.constant('c', tf.string)], parallel_iterations=1)
        t11 = w10[1]
        q12 = tf.FIFOQueue(9, tf.int32, [[3]])
        with tf.control_dependencies([q12.enqueue(tf.identity(tf.constant([-1, 5, 3], tf.int32)))]):
            t13 = q12.dequeue()
        return tf.tanh(tf.cast(t13, tf.float32))

    def f14():
        return tf.tanh(tf.tanh(tf.constant([-0.18, 0.27, -0.75], tf.float32) * -0.59))

    t15 = tf.cond(tf.identity(tf.less_equal(tf.reduce_max(x2), -0.16)), f4, f14)
    def f18(s17, e16):
        def f19():
            f24 = lambda i20, v21, v22, v23: i20 < tf.floormod(tf.constant(-3, tf.int32), 4)
            def f25(i20, v21, v22, v23):
                t26 = tf.tanh(tf.stack([s17] * 2) - x2)
                return [i20 + 1, tf.identity(v21), tf.floormod(v22, 7), tf.tanh(tf.tanh(v23 * 1.25))]

            w27 = tf.while_loop(f24, f25, [0, tf.constant([[True, False], [True, False], [True, False]], tf.bool), tf.cast(tf.constant([3, 4], tf.int32), tf.int32), tf.cast(tf.cast(t15, tf.float64), tf.float64)])
            t28 = w27[1]
            return tf.tanh(tf.tanh(tf.stack([x1] * 2) * 1.48))

        def f29():
            def f32(s31, e30):
                t33 = tf.tanh(tf.constant([[-0.53, -0.53, -0.6], [-0.06, 0.02, -0.34]], tf.float32) + tf.constant([[-0.56, 0.76, 0.42], [-0.55, -0.51, -0.99]], tf.float32))
                return tf.floormod(s31, 7)

            t34 = tf.foldr(f32, tf.cast(t15, tf.int32))
            def f36(i35):
                t37 = tf.tanh(t3 + t3)
                return tf.tanh(tf.fill([2], t3))

            a38 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, f36(i))), [0, tf.TensorArray(tf.float64, 2, element_shape=[2])])[1]
            t39 = a38.stack()[0]
            return tf.tanh(tf.stack([t39] * 2))

        t40 = tf.cond(tf.identity(tf.less_equal(tf.cast(t3, tf.int32), 0)), f19, f29)
        return tf.tanh(tf.tanh(s17 * 0.13))

    t41 = tf.foldr(f18, tf.constant([[-0.83, -0.5], [0.81, -0.12], [0.68, -0.49]], tf.float32))
    t42 = tf.tanh(tf.where(tf.reduce_sum(x1) > 0, tf.reduce_sum(x1), -t3))
    made = [t3, t15, t41, t42]
    found = tf.gradients(tf.reduce_sum(tf.cast(t3, tf.float64)) + tf.reduce_sum(tf.cast(t15, tf.float64)) + tf.reduce_sum(tf.cast(t41, tf.float64)) + tf.reduce_sum(tf.cast(t42, tf.float64)), [x1, x2])
    return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]

