//! The scans of a JPEG file: Huffman codes, which make the coefficients of blocks of 8 by 8 samples.
//!
//! As in libjpeg, missing bits before a marker are zeros, and a coefficient behind the last counts as the
//! last.

use super::header::{Component, Frame, Member, ORDER, Reader, Scan, broken};
use super::transform::Transform;
use super::{Options, Plane};
use millstream_graph::op::StepEnv;
use millstream_tensor::Result;
use millstream_tensor::budget::Charged;

/// The number of bits that a code is looked up by at once.
const FAST: u32 = 9;

/// A table of codes.
#[derive(Debug)]
pub(super) struct Huffman {
    /// For each beginning of a code: its length and its value; a length of 0 for longer codes.
    fast: [(u8, u8); 1 << FAST],
    /// For each length: the first number above its codes, in 16 bits.
    above: [u32; 17],
    /// For each length: the index of its first value, less its first code.
    offset: [i32; 17],
    values: Vec<u8>,
}

impl Huffman {
    /// The table of `counts[i]` codes of `i + 1` bits.
    pub fn new(counts: &[u8; 16], values: &[u8]) -> Result<Huffman> {
        let mut table =
            Huffman { fast: [(0, 0); 1 << FAST], above: [0; 17], offset: [0; 17], values: values.to_vec() };
        let (mut code, mut index) = (0u32, 0usize);
        for (length, n) in (1u32..).zip(counts) {
            table.offset[length as usize] = index as i32 - code as i32;
            for _ in 0..*n {
                if 1 << length <= code {
                    return Err(broken("a code table has too many codes"));
                }
                if length <= FAST {
                    let first = (code << (FAST - length)) as usize;
                    table.fast[first..first + (1 << (FAST - length))].fill((length as u8, values[index]));
                }
                (code, index) = (code + 1, index + 1);
            }
            table.above[length as usize] = code << (16 - length);
            code <<= 1;
        }
        Ok(table)
    }
}

/// The bits of a scan.
struct Bits<'a> {
    file: &'a [u8],
    at: usize,
    held: u64,
    n: u32,
    /// Whether a file may end early.
    recovers: bool,
    /// Whether the file has ended, and the number of zeros behind what is there.
    ended: bool,
    missing: u32,
}

impl<'a> Bits<'a> {
    fn fill(&mut self) {
        while self.n <= 48 {
            let byte = match (self.file.get(self.at), self.file.get(self.at + 1)) {
                (Some(0xFF), Some(0)) => {
                    self.at += 2;
                    0xFF
                }
                (Some(0xFF), Some(0xFF)) => {
                    self.at += 1;
                    continue;
                }
                // A marker stays where it is.
                (Some(0xFF), Some(_)) => {
                    self.missing += 8;
                    0
                }
                (Some(0xFF) | None, None) | (None, Some(_)) => {
                    self.ended = true;
                    self.missing += 8;
                    0
                }
                (Some(byte), _) => {
                    self.at += 1;
                    *byte
                }
            };
            self.held = self.held << 8 | u64::from(byte);
            self.n += 8;
        }
    }

    /// The next 16 bits, which are not taken.
    #[inline]
    fn peek(&mut self) -> u32 {
        if self.n < 16 {
            self.fill();
        }
        (self.held >> (self.n - 16)) as u32 & 0xFFFF
    }

    #[inline]
    fn skip(&mut self, n: u32) {
        self.n -= n;
    }

    /// Takes up to 16 bits.
    #[inline]
    fn take(&mut self, n: u32) -> i32 {
        let bits = self.peek() >> (16 - n);
        self.skip(n);
        bits as i32
    }

    /// Takes a number of `n` bits, whose first bit is 0 if it is negative.
    #[inline]
    fn number(&mut self, n: u32) -> i32 {
        if n == 0 {
            return 0;
        }
        let bits = self.take(n);
        if bits < 1 << (n - 1) { bits - (1 << n) + 1 } else { bits }
    }

    #[inline]
    fn code(&mut self, table: &Huffman) -> Result<u32> {
        let next = self.peek();
        let (length, value) = table.fast[(next >> (16 - FAST)) as usize];
        if 0 < length {
            self.skip(length.into());
            return Ok(value.into());
        }
        for length in FAST + 1..=16 {
            if next < table.above[length as usize] {
                self.skip(length);
                let index = (next >> (16 - length)) as i32 + table.offset[length as usize];
                let value = usize::try_from(index).ok().and_then(|i| table.values.get(i));
                return value.map(|v| u32::from(*v)).ok_or_else(|| broken("a code has no value"));
            }
        }
        // As in libjpeg, an unknown code counts as zero.
        self.skip(16);
        Ok(0)
    }

    /// Whether more bits were used than there are.
    fn is_short(&self) -> bool {
        self.n < self.missing
    }

    /// An error if bits behind the end of the file were used.
    fn check(&self) -> Result<()> {
        match self.ended && self.is_short() && !self.recovers {
            true => Err(broken("it ends before its image does")),
            false => Ok(()),
        }
    }

    /// Goes behind the next restart marker, if there is one before other markers.
    fn restart(&mut self) {
        (self.held, self.n, self.missing) = (0, 0, 0);
        let rest = self.file.get(self.at..).unwrap_or_default();
        let found = rest.windows(2).position(|w| w[0] == 0xFF && !matches!(w[1], 0 | 0xFF));
        if let Some(at) = found {
            let is_restart = matches!(rest[at + 1], 0xD0..=0xD7);
            self.at += if is_restart { at + 2 } else { at };
        }
    }
}

/// The coefficients of a component.
struct Blocks {
    coefficients: Charged<i16>,
    /// The number of blocks of a row and of a column, with those that fill up units.
    across: usize,
    /// The number of blocks with samples of the image.
    columns: usize,
    rows: usize,
    table: Option<[u16; 64]>,
}

impl Blocks {
    fn of(frame: &Frame, component: &Component) -> Result<Blocks> {
        let ((units_across, units_down), (most_across, most_down)) = (frame.units(), frame.most());
        let (across, down) = (units_across * component.across, units_down * component.down);
        let width = (frame.width * component.across).div_ceil(most_across);
        let height = (frame.height * component.down).div_ceil(most_down);
        let mut coefficients = Charged::with_room(across * down * 64)?;
        coefficients.resize_with(across * down * 64, || 0)?;
        Ok(Blocks { coefficients, across, columns: width.div_ceil(8), rows: height.div_ceil(8), table: None })
    }

    fn block(&mut self, row: usize, column: usize) -> &mut [i16] {
        &mut self.coefficients[(row * self.across + column) * 64..][..64]
    }
}

/// The state of a scan: the last coefficient of each component, and the blocks to come that have no more.
struct State<'a, 'f> {
    bits: Bits<'f>,
    scan: &'a Scan,
    last: [i32; 4],
    skipped: u32,
    progressive: bool,
}

/// Decodes all scans, and returns the samples.
pub(super) fn planes(env: &StepEnv, reader: &mut Reader, options: &Options) -> Result<Vec<Plane>> {
    let mut blocks: Vec<Blocks> = Vec::new();
    loop {
        let scan = match reader.next_scan() {
            Ok(Some(scan)) => scan,
            Ok(None) => break,
            Err(_) if options.recover && !blocks.is_empty() => break,
            Err(error) => return Err(error),
        };
        let frame = reader.tables.frame()?.clone();
        if blocks.is_empty() {
            blocks = frame.components.iter().map(|c| Blocks::of(&frame, c)).collect::<Result<_>>()?;
        }
        for member in &scan.members {
            let table = frame.components[member.component].table;
            let blocks = &mut blocks[member.component];
            blocks.table = blocks.table.or(reader.tables.quantization[table]);
        }
        reader.at = decode_scan(env, reader, &frame, &scan, &mut blocks, options)?;
    }
    let frame = reader.tables.frame()?;
    if blocks.is_empty() {
        return Err(broken("it has no scan"));
    }
    frame.components.iter().zip(&blocks).map(|(c, b)| plane(env, frame, c, b, options)).collect()
}

/// Decodes a scan. Returns the position behind it.
fn decode_scan(
    env: &StepEnv,
    reader: &Reader,
    frame: &Frame,
    scan: &Scan,
    blocks: &mut [Blocks],
    options: &Options,
) -> Result<usize> {
    let bits = Bits {
        file: reader.file,
        at: reader.at,
        held: 0,
        n: 0,
        recovers: options.recover,
        ended: false,
        missing: 0,
    };
    let mut state = State { bits, scan, last: [0; 4], skipped: 0, progressive: frame.progressive };
    let alone = match scan.members[..] {
        [member] => Some(member),
        _ => None,
    };
    let (across, down) = match alone {
        Some(m) => (blocks[m.component].columns, blocks[m.component].rows),
        None => frame.units(),
    };
    let mut left = reader.tables.interval;
    for row in 0..down {
        env.cancel.check()?;
        for column in 0..across {
            if 0 < reader.tables.interval {
                if left == 0 {
                    state.bits.restart();
                    (state.last, state.skipped, left) = ([0; 4], 0, reader.tables.interval);
                }
                left -= 1;
            }
            if state.bits.is_short() {
                continue;
            }
            match alone {
                Some(m) => state.block(reader, m, blocks[m.component].block(row, column))?,
                None => state.unit(reader, frame, blocks, row, column)?,
            }
        }
        state.bits.check()?;
    }
    Ok(state.bits.at)
}

impl State<'_, '_> {
    /// Decodes a unit: some blocks of each component.
    fn unit(
        &mut self,
        reader: &Reader,
        frame: &Frame,
        blocks: &mut [Blocks],
        row: usize,
        column: usize,
    ) -> Result<()> {
        for member in &self.scan.members {
            let component = &frame.components[member.component];
            for y in 0..component.down {
                for x in 0..component.across {
                    let (y, x) = (row * component.down + y, column * component.across + x);
                    self.block(reader, *member, blocks[member.component].block(y, x))?;
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, reader: &Reader, member: Member, block: &mut [i16]) -> Result<()> {
        let direct = || {
            let table = reader.tables.direct[member.direct].as_deref();
            table.ok_or_else(|| broken("a scan has no code table"))
        };
        let alternating = || {
            let table = reader.tables.alternating[member.alternating].as_deref();
            table.ok_or_else(|| broken("a scan has no code table"))
        };
        match (self.progressive, self.scan.from, self.scan.high) {
            (false, ..) => {
                self.first_direct(direct()?, member, block)?;
                self.sequential(alternating()?, block)
            }
            (true, 0, 0) => self.first_direct(direct()?, member, block),
            (true, 0, _) => {
                block[0] |= (self.bits.take(1) << self.scan.low) as i16;
                Ok(())
            }
            (true, _, 0) => self.first_band(alternating()?, block),
            (true, ..) => self.more_of_band(alternating()?, block),
        }
    }

    fn first_direct(&mut self, table: &Huffman, member: Member, block: &mut [i16]) -> Result<()> {
        let n = self.bits.code(table)?;
        if 15 < n {
            return Err(broken("a coefficient is too large"));
        }
        let last = &mut self.last[member.component];
        *last = last.wrapping_add(self.bits.number(n));
        block[0] = (*last << self.scan.low) as i16;
        Ok(())
    }

    fn sequential(&mut self, table: &Huffman, block: &mut [i16]) -> Result<()> {
        let mut k = 1;
        while k < 64 {
            let code = self.bits.code(table)?;
            let (zeros, n) = ((code >> 4) as usize, code & 15);
            if n == 0 {
                if zeros != 15 {
                    break;
                }
                k += 16;
                continue;
            }
            k += zeros;
            block[place(k)] = self.bits.number(n) as i16;
            k += 1;
        }
        Ok(())
    }

    fn first_band(&mut self, table: &Huffman, block: &mut [i16]) -> Result<()> {
        if 0 < self.skipped {
            self.skipped -= 1;
            return Ok(());
        }
        let mut k = self.scan.from;
        while k <= self.scan.to {
            let code = self.bits.code(table)?;
            let (zeros, n) = (code >> 4, code & 15);
            if n == 0 && zeros < 15 {
                self.skipped = (1 << zeros) - 1 + self.bits.take(zeros) as u32;
                break;
            }
            k += zeros as usize;
            if 0 < n {
                block[place(k)] = (self.bits.number(n) << self.scan.low) as i16;
            }
            k += 1;
        }
        Ok(())
    }

    /// Adds a bit to the coefficients that are there, and makes new ones between them.
    fn more_of_band(&mut self, table: &Huffman, block: &mut [i16]) -> Result<()> {
        let bit = 1i16 << self.scan.low;
        let mut k = self.scan.from;
        if self.skipped == 0 {
            while k <= self.scan.to {
                let code = self.bits.code(table)?;
                let (mut zeros, n) = (code >> 4, code & 15);
                let mut new = 0;
                if 0 < n {
                    new = if self.bits.take(1) == 1 { bit } else { -bit };
                } else if zeros < 15 {
                    self.skipped = (1 << zeros) + self.bits.take(zeros) as u32;
                    break;
                }
                while k <= self.scan.to {
                    let cell = &mut block[place(k)];
                    if *cell != 0 {
                        self.refine(cell, bit);
                    } else if zeros == 0 {
                        break;
                    } else {
                        zeros -= 1;
                    }
                    k += 1;
                }
                if new != 0 && k < 64 {
                    block[place(k)] = new;
                }
                k += 1;
            }
        }
        if 0 < self.skipped {
            for k in k..=self.scan.to {
                let cell = &mut block[place(k)];
                if *cell != 0 {
                    self.refine(cell, bit);
                }
            }
            self.skipped -= 1;
        }
        Ok(())
    }

    fn refine(&mut self, cell: &mut i16, bit: i16) {
        if self.bits.take(1) == 1 && *cell & bit == 0 {
            *cell = cell.wrapping_add(if *cell < 0 { -bit } else { bit });
        }
    }
}

/// The place of coefficient `k`, or of the last.
#[inline]
fn place(k: usize) -> usize {
    ORDER[k.min(63)].into()
}

/// Turns the coefficients of a component into samples.
fn plane(
    env: &StepEnv,
    frame: &Frame,
    component: &Component,
    blocks: &Blocks,
    options: &Options,
) -> Result<Plane> {
    let (most_across, most_down) = frame.most();
    let table = blocks.table.ok_or_else(|| broken("a component has no quantization table"))?;
    let transform = Transform::new(options.method, &table);
    let stride = blocks.across * 8;
    let mut samples = Charged::with_room(blocks.coefficients.len())?;
    samples.resize_with(blocks.coefficients.len(), || 0)?;
    let lines = samples.chunks_exact_mut(stride * 8).zip(blocks.coefficients.chunks_exact(stride * 8));
    for (lines, row) in lines {
        env.cancel.check()?;
        for (x, block) in row.chunks_exact(64).enumerate() {
            transform.block(block, &mut lines[8 * x..], stride);
        }
    }
    Ok(Plane {
        samples,
        stride,
        width: (frame.width * component.across).div_ceil(most_across),
        height: (frame.height * component.down).div_ceil(most_down),
        across: most_across / component.across,
        down: most_down / component.down,
    })
}
