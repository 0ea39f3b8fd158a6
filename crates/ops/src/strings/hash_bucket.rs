//! `StringToHashBucket`, `..Fast` and `..Strong`: hashes of strings to buckets.

use super::{farm, hash};
use crate::shared::strings::each;
use millstream_graph::op::spec::{AtLeast, IntList};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 3] {
    let plain = |name, input, doc| {
        OpDef::new(name)
            .doc(doc)
            .input(input, Str)
            .output("output", I64)
            .attr("num_buckets", AtLeast(1))
            .infer(|cx| cx.same_as_input())
    };
    [
        plain(
            "StringToHashBucket",
            "string_tensor",
            "Hashes each string with MurmurHash64A, modulo `num_buckets`.",
        )
        .kernel(Kernel::pure(|cx| run(cx, hash::quick))),
        plain(
            "StringToHashBucketFast",
            "input",
            "Computes the FarmHash fingerprint of each string, modulo `num_buckets`.",
        )
        .kernel(Kernel::pure(|cx| run(cx, farm::fingerprint))),
        plain(
            "StringToHashBucketStrong",
            "input",
            "Computes the SipHash of each string with the two numbers of `key`, modulo `num_buckets`. \
             Without the key, it is hard to find strings that collide.",
        )
        .attr("key", IntList)
        .kernel(Kernel::pure(|cx| {
            let key = cx.attrs().ints("key")?;
            let [a, b] = key[..] else {
                return Err(
                    invalid!("Key must have 2 elements"; "`key` has {} numbers but needs 2", key.len()),
                );
            };
            run(cx, move |s| hash::sip([a as u64, b as u64], s))
        })),
    ]
}

fn run(cx: &mut KernelCx, hash: impl Fn(&[u8]) -> u64 + Clone + Send + 'static) -> Result<()> {
    let buckets = cx.attrs().int("num_buckets")?;
    ensure!(buckets > 0, "`num_buckets` is {buckets} but must be at least 1");
    let values = each(cx, move |s| Ok((hash(s) % buckets.unsigned_abs()) as i64))?;
    let result = Tensor::from_slice(cx.input(0).shape().clone(), &values)?;
    cx.set(0, result);
    Ok(())
}

cases! {
    fast: r#"StringToHashBucketFast(["" "a" "hello world, this is a long string that exceeds sixty-four bytes in length for sure, yes!!" "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" "yyyyyyyyyyyyyyyyy" "zzzzzzzz" "wwww" "vv"]; num_buckets=4611686018427387904) = i64[8] [1936946117179621455 3694432073954588131 4536892499871255016 3046993373088323127 426471879119003573 2002126855008021477 109663955556121060 921117149667175111]"#,
    quick: r#"StringToHashBucket(["" "a" "hello" "hello world, this is long" "12345678"]; num_buckets=4611686018427387904) = i64[5] [105434511174508091 2996632905371535868 1331861223480393034 1507418369814423283 421129128932463287]"#,
    strong: r#"StringToHashBucketStrong(["" "a" "hello world"]; num_buckets=4611686018427387904, key={3, 4}) = i64[3] [417611336525820314 2504541246220840856 397385119001593858]"#,
    keeps_the_shape: "StringToHashBucketFast(str[?,3]; num_buckets=3) : i64[?,3]",
    needs_buckets: r#"StringToHashBucketFast("a"; num_buckets=0) ! `num_buckets` is 0 but must be at least 1"#,
    key_of_two: r#"StringToHashBucketStrong("a"; num_buckets=3, key={1}) ! `key` has 1 numbers but needs 2"#,
}
