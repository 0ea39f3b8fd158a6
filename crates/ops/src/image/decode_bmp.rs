//! `DecodeBmp`: the pixels of a BMP file.

use super::decode_jpeg::SLOW;
use super::files::infer_image;
use crate::shared::elementwise::fresh;
use crate::shared::strings::scalar;
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{Str, U8};
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeBmp")
        .doc(
            "Decodes a BMP file without compression and palette to an image of shape `[height, width, channels]`. \
             `channels` is 0, for the number in the file, 1, 3 or 4.",
        )
        .input("contents", Str)
        .output("image", U8)
        .attr("channels", Int.or(0))
        .infer(infer_image)
        .kernel(Kernel::pure(run).cost(SLOW))
}

/// The number of bytes up to the fields that are read.
const HEAD: usize = 32;

fn run(cx: &mut KernelCx) -> Result<()> {
    let wanted = cx.attrs().int("channels")?;
    ensure!(matches!(wanted, 0 | 1 | 3 | 4), "channels must be 0, 1, 3 or 4, got {wanted}"; "`channels` is {wanted}");
    let file = scalar(cx, 0)?.clone();
    let Some(head) = file.first_chunk::<HEAD>() else {
        return Err(invalid!(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {} bytes",
            file.len(); "`contents` is not a whole BMP file"
        ));
    };
    let word = |at: usize| i32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (start, width, height) = (word(10), word(18), word(22));
    let depth = usize::from(u16::from_le_bytes([head[28], head[29]])) / 8;
    ensure!(
        wanted == 0 || wanted as usize == depth,
        "channels attribute {wanted} does not match bits per pixel from file {depth}";
        "the file has {depth} channels"
    );
    ensure!(
        matches!(depth, 1 | 3 | 4),
        "Number of channels must be 1, 3 or 4, was {depth}"; "the BMP file is of another kind"
    );
    ensure!(0 < width, "Width must be positive"; "the BMP file has a width of {width}");
    ensure!(height != 0 && height != i32::MIN, "Height must be nonzero"; "the BMP file has a height of {height}");
    let (width, rows) = (width as usize, height.unsigned_abs() as usize);
    // Lines are filled up to multiples of 4 bytes. The last may lack that.
    let line = (width * depth).next_multiple_of(4);
    let start =
        usize::try_from(start).map_err(|_| invalid!("the pixels of the BMP file start at {start}"))?;
    let needed = (rows - 1).checked_mul(line).and_then(|n| n.checked_add(width * depth)?.checked_add(start));
    let Some(pixels) = needed.and_then(|needed| file.get(start..needed)) else {
        return Err(invalid!(
            "Incomplete bmp content, requires at least {} bytes, got {} bytes",
            needed.unwrap_or(usize::MAX), file.len(); "`contents` is not a whole BMP file"
        ));
    };
    let mut out = Tensor::anything(U8, [rows, width, depth])?;
    for (y, to) in fresh::<u8>(&mut out)?.chunks_exact_mut(width * depth).enumerate() {
        // The first line of a file is the lowest, unless its height is negative.
        let from = &pixels[if height < 0 { y } else { rows - 1 - y } * line..][..width * depth];
        for (to, from) in to.chunks_exact_mut(depth).zip(from.chunks_exact(depth)) {
            to.copy_from_slice(from);
            if 3 <= depth {
                to.swap(0, 2);
            }
        }
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    infers: "DecodeBmp(str[]; channels=3) : u8[?,?,3]",
    whole: r#"DecodeBmp("BM") ! Incomplete bmp content, requires at least 32 bytes"#,
    not_one: r#"DecodeBmp("BM......................................"; channels=3) ! does not match bits per pixel"#,
    channels_of_files: r#"DecodeBmp("BM"; channels=2) ! channels must be 0, 1, 3 or 4, got 2"#,
}

#[cfg(test)]
mod tests {
    use crate::cases::{Case, evaluate};
    use millstream_tensor::Tensor;

    /// A BMP file of two lines.
    fn file(height: i32, channels: u16, lines: [&[u8]; 2]) -> Vec<u8> {
        let mut file = b"BM........\x1E\0\0\0....".to_vec();
        file.extend(2i32.to_le_bytes());
        file.extend(height.to_le_bytes());
        file.extend([1, 0]);
        file.extend((channels * 8).to_le_bytes());
        file.extend(lines.concat());
        file
    }

    #[track_caller]
    fn check(file: &[u8], want: &[u8]) {
        let mut case = Case::parse("DecodeBmp(\"\") ! nothing").unwrap();
        case.call.args = vec![crate::cases::Arg::Value(Tensor::str(file.to_vec()))];
        assert_eq!(evaluate(&case).unwrap()[0].as_slice::<u8>().unwrap(), want);
    }

    #[test]
    fn lines_come_from_below() {
        let (low, high) = ([1, 2, 3, 4, 5, 6, 0, 0], [7, 8, 9, 10, 11, 12, 0, 0]);
        check(&file(2, 3, [&low, &high]), &[9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4]);
        check(&file(-2, 3, [&low, &high[..6]]), &[3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10]);
        check(&file(2, 1, [&[1, 2, 0, 0], &[3, 4]]), &[3, 4, 1, 2]);
        check(&file(-2, 4, [&low, &high]), &[3, 2, 1, 4, 0, 6, 5, 0, 9, 8, 7, 10, 0, 12, 11, 0]);
    }
}
