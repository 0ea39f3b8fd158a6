//! Encoding of JPEG files with libjpeg's arithmetic, so that files are those of TensorFlow, byte for byte.
//! The crate `jpeg-encoder` was not taken: its transform is another, and part of it has a licence of its own.

use super::codes::{ALTERNATING, DIRECT, QUANTIZATION};
use super::header::ORDER;
use super::transform::forward;
use millstream_graph::op::StepEnv;
use millstream_tensor::Result;
use millstream_tensor::budget::Charged;

/// A table of codes as the file holds it.
pub(super) struct Codes<const N: usize> {
    pub counts: [u8; 16],
    pub values: [u8; N],
}

/// How an image is encoded.
#[derive(Clone, Debug)]
pub(in super::super) struct Form {
    pub height: usize,
    pub width: usize,
    /// 1 or 3.
    pub channels: usize,
    /// From 0 to 100.
    pub quality: i64,
    /// Whether colours have half the height and width.
    pub halves: bool,
    /// The unit of the densities, 1 for inches and 2 for centimeters, and those along the two axes.
    pub density: (u8, u16, u16),
    /// A document about the image, in XMP.
    pub about: Vec<u8>,
}

/// For each value: its code and the length of the code.
type Table = [(u16, u8); 256];

fn table<const N: usize>(codes: &Codes<N>) -> Table {
    let (mut table, mut code, mut values) = ([(0, 0); 256], 0u16, codes.values.iter());
    for (length, n) in (1u8..).zip(codes.counts) {
        for value in values.by_ref().take(n.into()) {
            table[usize::from(*value)] = (code, length);
            code += 1;
        }
        code = code.wrapping_shl(1);
    }
    table
}

/// The file, and the bits that do not fill a byte yet.
struct Writer {
    file: Charged<u8>,
    held: u32,
    n: u32,
}

impl Writer {
    fn segment(&mut self, marker: u8, body: &[u8]) -> Result<()> {
        self.file.extend_from_slice(&[0xFF, marker])?;
        self.file.extend_from_slice(&(body.len() as u16 + 2).to_be_bytes())?;
        self.file.extend_from_slice(body)
    }

    fn bits(&mut self, bits: u32, n: u32) -> Result<()> {
        self.held = self.held << n | bits & ((1 << n) - 1);
        self.n += n;
        while 8 <= self.n {
            self.n -= 8;
            let byte = (self.held >> self.n) as u8;
            self.file.push(byte)?;
            if byte == 0xFF {
                self.file.push(0)?;
            }
        }
        Ok(())
    }

    fn code(&mut self, table: &Table, value: usize) -> Result<()> {
        let (code, length) = table[value];
        self.bits(code.into(), length.into())
    }

    /// Writes the last bits of a number. Those of a negative one are of the number less one.
    fn number(&mut self, v: i32, n: u32) -> Result<()> {
        self.bits(if v < 0 { v.wrapping_sub(1) } else { v } as u32, n)
    }

    fn block(
        &mut self,
        block: &[i16; 64],
        last: &mut i32,
        direct: &Table,
        alternating: &Table,
    ) -> Result<()> {
        let difference = i32::from(block[0]) - *last;
        *last = block[0].into();
        let n = width(difference);
        self.code(direct, n as usize)?;
        self.number(difference, n)?;
        let mut zeros = 0;
        for place in &ORDER[1..] {
            let v = i32::from(block[usize::from(*place)]);
            if v == 0 {
                zeros += 1;
                continue;
            }
            while 15 < zeros {
                self.code(alternating, 0xF0)?;
                zeros -= 16;
            }
            let n = width(v);
            self.code(alternating, zeros << 4 | n as usize)?;
            self.number(v, n)?;
            zeros = 0;
        }
        if 0 < zeros { self.code(alternating, 0) } else { Ok(()) }
    }
}

/// The number of bits of a number without its sign.
fn width(v: i32) -> u32 {
    32 - v.unsigned_abs().leading_zeros()
}

/// The quantization table of a quality, in the order of the file.
fn quantization(base: &[u16; 64], quality: i64) -> [u8; 64] {
    let quality = quality.clamp(1, 100);
    let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    base.map(|q| ((i64::from(q) * percent + 50) / 100).clamp(1, 255) as u8)
}

/// Samples of a component, filled up to whole blocks.
struct Samples {
    cells: Charged<u8>,
    stride: usize,
    /// The number of blocks with samples of the image.
    across: usize,
    down: usize,
    /// The number of blocks of a unit along each axis.
    side: usize,
}

/// Encodes an image.
pub(in super::super) fn encode(env: &StepEnv, form: &Form, pixels: &[u8]) -> Result<Vec<u8>> {
    let mut out = Writer { file: Charged::new(), held: 0, n: 0 };
    let tables = QUANTIZATION.map(|base| quantization(&base, form.quality));
    head(&mut out, form, &tables)?;
    let components = components(env, form, pixels)?;
    let direct = DIRECT.each_ref().map(table);
    let alternating = ALTERNATING.each_ref().map(table);
    let most = if form.channels == 3 && form.halves { 2 } else { 1 };
    let units = [form.height, form.width].map(|n| n.div_ceil(8 * most));
    let mut last = [0i32; 3];
    for row in 0..units[0] {
        env.cancel.check()?;
        for column in 0..units[1] {
            for (i, samples) in components.iter().enumerate() {
                let k = usize::from(0 < i);
                let mut coefficients = [0i16; 64];
                for y in 0..samples.side {
                    for x in 0..samples.side {
                        let (y, x) = (row * samples.side + y, column * samples.side + x);
                        // Blocks that only fill up a unit repeat the last first coefficient.
                        match y < samples.down && x < samples.across {
                            true => coefficients = samples.block(y, x, &tables[k]),
                            false => coefficients[1..].fill(0),
                        }
                        out.block(&coefficients, &mut last[i], &direct[k], &alternating[k])?;
                    }
                }
            }
        }
    }
    let left = (8 - out.n % 8) % 8;
    out.bits(u32::MAX, left)?;
    out.file.extend_from_slice(&[0xFF, 0xD9])?;
    Ok(out.file.take())
}

fn head(out: &mut Writer, form: &Form, tables: &[[u8; 64]; 2]) -> Result<()> {
    out.file.extend_from_slice(&[0xFF, 0xD8])?;
    let (unit, x, y) = form.density;
    let mut body = b"JFIF\0\x01\x01".to_vec();
    body.push(unit);
    body.extend(x.to_be_bytes());
    body.extend(y.to_be_bytes());
    body.extend([0, 0]);
    out.segment(0xE0, &body)?;
    if !form.about.is_empty() {
        out.segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", &*form.about].concat())?;
    }
    let kinds = if form.channels == 1 { 1 } else { 2 };
    for (i, table) in tables.iter().enumerate().take(kinds) {
        out.segment(0xDB, &[&[i as u8], &table[..]].concat())?;
    }
    let mut body = vec![8];
    body.extend((form.height as u16).to_be_bytes());
    body.extend((form.width as u16).to_be_bytes());
    body.push(form.channels as u8);
    for i in 0..form.channels as u8 {
        let sampling = if i == 0 && form.channels == 3 && form.halves { 0x22 } else { 0x11 };
        body.extend([i + 1, sampling, u8::from(0 < i)]);
    }
    out.segment(0xC0, &body)?;
    for i in 0..kinds {
        let (direct, alternating) = (&DIRECT[i], &ALTERNATING[i]);
        out.segment(0xC4, &[&[i as u8], &direct.counts[..], &direct.values[..]].concat())?;
        out.segment(0xC4, &[&[0x10 | i as u8], &alternating.counts[..], &alternating.values[..]].concat())?;
    }
    let mut body = vec![form.channels as u8];
    for i in 0..form.channels as u8 {
        body.extend([i + 1, if i == 0 { 0 } else { 0x11 }]);
    }
    body.extend([0, 63, 0]);
    out.segment(0xDA, &body)
}

/// The components of an image: its brightness, and the colours.
fn components(env: &StepEnv, form: &Form, pixels: &[u8]) -> Result<Vec<Samples>> {
    let mut list = Vec::new();
    for i in 0..form.channels {
        let halved = 0 < i && form.halves;
        let most = if form.channels == 3 && form.halves { 2 } else { 1 };
        let step = if halved { 2 } else { 1 };
        let (across, down) = (form.width.div_ceil(8 * step), form.height.div_ceil(8 * step));
        let stride = across * 8;
        let mut cells = Charged::with_room(stride * down * 8)?;
        cells.resize_with(stride * down * 8, || 0u8)?;
        let value = |y: usize, x: usize| {
            let at = (y.min(form.height - 1) * form.width + x.min(form.width - 1)) * form.channels;
            match form.channels {
                1 => pixels[at],
                _ => component(i, [pixels[at], pixels[at + 1], pixels[at + 2]]),
            }
        };
        // Lines beyond the image repeat the last one, which for colours is the mean of two.
        let lines = form.height.div_ceil(step);
        for y in 0..down * 8 {
            env.cancel.check()?;
            let (before, line) = cells.split_at_mut(y * stride);
            let line = &mut line[..stride];
            match lines <= y {
                true => line.copy_from_slice(&before[(y - 1) * stride..]),
                false if halved => {
                    for (x, cell) in line.iter_mut().enumerate() {
                        let (y, x, odd) = (2 * y, 2 * x, x as u32 % 2);
                        let sum = [value(y, x), value(y, x + 1), value(y + 1, x), value(y + 1, x + 1)];
                        *cell = ((sum.iter().map(|v| u32::from(*v)).sum::<u32>() + 1 + odd) >> 2) as u8;
                    }
                }
                false => line.iter_mut().enumerate().for_each(|(x, cell)| *cell = value(y, x)),
            }
        }
        list.push(Samples { cells, stride, across, down, side: if halved { 1 } else { most } });
    }
    Ok(list)
}

/// `x` with 16 bits of fraction.
const fn fixed(x: f64) -> i32 {
    (x * 65536.0 + 0.5) as i32
}

/// Component `i` of a colour.
fn component(i: usize, [r, g, b]: [u8; 3]) -> u8 {
    const HALF: i32 = 1 << 15;
    const CENTER: i32 = (128 << 16) + HALF - 1;
    let (r, g, b) = (i32::from(r), i32::from(g), i32::from(b));
    let sum = match i {
        0 => fixed(0.29900) * r + fixed(0.58700) * g + fixed(0.11400) * b + HALF,
        1 => -fixed(0.16874) * r - fixed(0.33126) * g + fixed(0.50000) * b + CENTER,
        _ => fixed(0.50000) * r - fixed(0.41869) * g - fixed(0.08131) * b + CENTER,
    };
    (sum >> 16) as u8
}

impl Samples {
    /// The quantized coefficients of a block.
    fn block(&self, y: usize, x: usize, table: &[u8; 64]) -> [i16; 64] {
        let mut cells = [0i32; 64];
        for (i, row) in cells.chunks_exact_mut(8).enumerate() {
            let from = &self.cells[(y * 8 + i) * self.stride + x * 8..][..8];
            row.iter_mut().zip(from).for_each(|(cell, v)| *cell = i32::from(*v) - 128);
        }
        let mut block = [0; 64];
        let coefficients = forward(cells);
        for (q, place) in table.iter().zip(ORDER) {
            let place = usize::from(place);
            block[place] = coefficients.quantized(place, (*q).into());
        }
        block
    }
}
