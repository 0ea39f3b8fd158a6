//! The segments of a JPEG file: [`Reader`] walks over them and keeps the [`Tables`] that they define.

use super::scan::Huffman;
use millstream_tensor::{Result, ensure, invalid};

/// A component of an image: brightness, or one of the colours.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Component {
    pub id: u8,
    /// The number of blocks in a unit, along each axis.
    pub across: usize,
    pub down: usize,
    /// The number of its quantization table.
    pub table: usize,
}

/// The image that a file declares.
#[derive(Clone, Debug)]
pub(in super::super) struct Frame {
    pub width: usize,
    pub height: usize,
    pub components: Vec<Component>,
    pub progressive: bool,
}

impl Frame {
    fn parse(body: &[u8], progressive: bool) -> Result<Frame> {
        let &[precision, h1, h0, w1, w0, n, ref rest @ ..] = body else {
            return Err(broken("its frame is short"));
        };
        let (height, width) = (word(h1, h0), word(w1, w0));
        ensure!(precision == 8, "a JPEG file with {precision} bits a sample is not supported: 8 are");
        ensure!(0 < height && 0 < width, "a JPEG image of {width} x {height} pixels has none");
        ensure!(rest.len() == 3 * usize::from(n), "{}", broken("its frame is of another length").message());
        ensure!(matches!(n, 1 | 3 | 4), "a JPEG file with {n} components is not supported: 1, 3 or 4 are");
        let components = rest.chunks_exact(3).map(|c| {
            let (across, down, table) = (usize::from(c[1] >> 4), usize::from(c[1] & 15), usize::from(c[2]));
            ensure!(
                (1..=4).contains(&across) && (1..=4).contains(&down) && table < 4,
                "{}",
                broken("a component has no such sampling").message()
            );
            Ok(Component { id: c[0], across, down, table })
        });
        let frame = Frame { width, height, components: components.collect::<Result<_>>()?, progressive };
        let (across, down) = frame.most();
        ensure!(
            frame.components.iter().all(|c| across.is_multiple_of(c.across) && down.is_multiple_of(c.down)),
            "a JPEG file whose components differ in size by a fraction is not supported"
        );
        Ok(frame)
    }

    /// The most blocks of a component in a unit, along each axis.
    pub fn most(&self) -> (usize, usize) {
        let most = |side: fn(&Component) -> usize| self.components.iter().map(side).max().unwrap_or(1);
        (most(|c| c.across), most(|c| c.down))
    }

    /// The number of units along each axis.
    pub fn units(&self) -> (usize, usize) {
        let (across, down) = self.most();
        (self.width.div_ceil(8 * across), self.height.div_ceil(8 * down))
    }
}

/// The colours of a file's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Gray,
    Rgb,
    Ycc,
    Cmyk,
    Ycck,
}

/// What the segments before a scan define.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub frame: Option<Frame>,
    pub quantization: [Option<[u16; 64]>; 4],
    pub direct: [Option<Box<Huffman>>; 4],
    pub alternating: [Option<Box<Huffman>>; 4],
    /// The number of units between restarts, or 0.
    pub interval: usize,
    is_jfif: bool,
    /// The transform that an Adobe segment names.
    pub adobe: Option<u8>,
}

impl Tables {
    /// The frame, which every scan needs.
    pub fn frame(&self) -> Result<&Frame> {
        self.frame.as_ref().ok_or_else(|| broken("it has no frame"))
    }

    /// The colours of the components.
    pub fn space(&self) -> Result<Space> {
        let ids: Vec<u8> = self.frame()?.components.iter().map(|c| c.id).collect();
        Ok(match (ids.len(), self.adobe) {
            (1, _) => Space::Gray,
            (3, _) if self.is_jfif => Space::Ycc,
            (3, Some(0)) => Space::Rgb,
            (3, Some(_)) => Space::Ycc,
            (3, None) if ids == *b"RGB" => Space::Rgb,
            (3, None) => Space::Ycc,
            (_, None | Some(0)) => Space::Cmyk,
            (_, Some(_)) => Space::Ycck,
        })
    }

    fn define_quantization(&mut self, mut body: &[u8]) -> Result<()> {
        while let Some((&head, rest)) = body.split_first() {
            let (wide, slot) = (16 <= head, usize::from(head & 15));
            let size = if wide { 128 } else { 64 };
            let Some((values, rest)) = rest.split_at_checked(size).filter(|_| slot < 4) else {
                return Err(broken("a quantization table is not valid"));
            };
            let mut table = [0u16; 64];
            for (i, place) in ORDER.iter().enumerate() {
                table[usize::from(*place)] = match wide {
                    true => u16::from_be_bytes([values[2 * i], values[2 * i + 1]]),
                    false => values[i].into(),
                };
            }
            self.quantization[slot] = Some(table);
            body = rest;
        }
        Ok(())
    }

    fn define_codes(&mut self, mut body: &[u8]) -> Result<()> {
        while let Some((&head, rest)) = body.split_first() {
            let slot = usize::from(head & 15);
            let Some((counts, rest)) = rest.split_first_chunk::<16>().filter(|_| slot < 4) else {
                return Err(broken("a code table is not valid"));
            };
            let n = counts.iter().map(|c| usize::from(*c)).sum();
            let Some((values, rest)) = rest.split_at_checked(n).filter(|_| n <= 256) else {
                return Err(broken("a code table is short"));
            };
            let table = Some(Box::new(Huffman::new(counts, values)?));
            match head >> 4 {
                0 => self.direct[slot] = table,
                _ => self.alternating[slot] = table,
            }
            body = rest;
        }
        Ok(())
    }
}

/// A component of a scan: its number, and those of its code tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub component: usize,
    pub direct: usize,
    pub alternating: usize,
}

/// The head of a scan.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub members: Vec<Member>,
    /// The first and the last coefficient.
    pub from: usize,
    pub to: usize,
    /// The bit that earlier scans ended with, or 0, and that which this one ends with.
    pub high: u8,
    pub low: u8,
}

impl Scan {
    fn parse(body: &[u8], frame: &Frame) -> Result<Scan> {
        let Some((&n, rest)) = body.split_first() else { return Err(broken("a scan is short")) };
        let Some((list, &[from, to, bits])) = rest
            .split_at_checked(2 * usize::from(n))
            .and_then(|(list, rest)| Some((list, rest.first_chunk::<3>()?)))
        else {
            return Err(broken("a scan is short"));
        };
        let mut members = Vec::new();
        for pair in list.chunks_exact(2) {
            let component = frame.components.iter().position(|c| c.id == pair[0]);
            let (direct, alternating) = (usize::from(pair[1] >> 4), usize::from(pair[1] & 15));
            let Some(component) = component.filter(|_| direct < 4 && alternating < 4) else {
                return Err(broken("a scan is of no component"));
            };
            ensure!(
                members.iter().all(|m: &Member| m.component != component),
                "{}",
                broken("a scan names a component twice").message()
            );
            members.push(Member { component, direct, alternating });
        }
        let (from, to) = (usize::from(from), usize::from(to));
        let scan = Scan { members, from, to, high: bits >> 4, low: bits & 15 };
        scan.checked(frame)
    }

    fn checked(mut self, frame: &Frame) -> Result<Scan> {
        ensure!(!self.members.is_empty(), "{}", broken("a scan is of no component").message());
        if !frame.progressive {
            (self.from, self.to, self.high, self.low) = (0, 63, 0, 0);
        }
        let blocks = self.members.iter().map(|m| &frame.components[m.component]).map(|c| c.across * c.down);
        let is_band = 0 < self.from;
        ensure!(
            (self.members.len() == 1 || blocks.sum::<usize>() <= 10)
                && self.from <= self.to
                && self.to <= 63
                && (!frame.progressive || is_band || self.to == 0)
                && (!is_band || self.members.len() == 1)
                && self.low <= 13
                && (self.high == 0 || self.high == self.low + 1),
            "{}",
            broken("a scan has no such form").message()
        );
        Ok(self)
    }
}

/// A JPEG file that is being read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub file: &'a [u8],
    pub at: usize,
    pub tables: Tables,
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a [u8]) -> Reader<'a> {
        Reader { file, at: 0, tables: Tables::default() }
    }

    /// Reads segments up to the next scan. `None` at the end of the image.
    pub fn next_scan(&mut self) -> Result<Option<Scan>> {
        loop {
            let Some((marker, body)) = self.segment()? else { return Ok(None) };
            if marker == 0xDA {
                return Scan::parse(body, self.tables.frame()?).map(Some);
            }
            self.take(marker, body)?;
        }
    }

    /// Reads the next segment. `None` at the end of the image.
    fn segment(&mut self) -> Result<Option<(u8, &'a [u8])>> {
        ensure!(self.file.starts_with(&[0xFF, 0xD8]), "{}", broken("it does not start as one").message());
        loop {
            let rest = self.file.get(self.at..).unwrap_or_default();
            let Some(skipped) = rest.windows(2).position(|w| w[0] == 0xFF && !matches!(w[1], 0 | 0xFF))
            else {
                return Err(broken("it ends before its image does"));
            };
            let marker = rest[skipped + 1];
            self.at += skipped + 2;
            match marker {
                0xD8 | 0x01 | 0xD0..=0xD7 => continue,
                0xD9 => return Ok(None),
                _ => {}
            }
            let rest = &self.file[self.at..];
            let size = rest.first_chunk::<2>().map(|b| word(b[0], b[1]));
            let Some(body) = size.and_then(|size| rest.get(2..size)) else {
                return Err(broken("a segment is short"));
            };
            self.at += 2 + body.len();
            return Ok(Some((marker, body)));
        }
    }

    fn take(&mut self, marker: u8, body: &[u8]) -> Result<()> {
        let tables = &mut self.tables;
        match marker {
            0xC0..=0xC2 => {
                ensure!(tables.frame.is_none(), "{}", broken("it has two frames").message());
                tables.frame = Some(Frame::parse(body, marker == 0xC2)?);
            }
            0xC4 => tables.define_codes(body)?,
            0xC3 | 0xC5..=0xCF => {
                return Err(invalid!("a JPEG file of the kind {marker:#X} is not supported"));
            }
            0xDB => tables.define_quantization(body)?,
            0xDD => tables.interval = body.first_chunk::<2>().map_or(0, |b| word(b[0], b[1])),
            0xE0 if body.starts_with(b"JFIF\0") => tables.is_jfif = true,
            0xEE if body.starts_with(b"Adobe") && 12 <= body.len() => tables.adobe = Some(body[11]),
            _ => {}
        }
        Ok(())
    }
}

/// Reads the image that a file declares.
pub(in super::super) fn frame_of(file: &[u8]) -> Result<Frame> {
    let mut reader = Reader::new(file);
    while reader.tables.frame.is_none() {
        match reader.segment()? {
            Some((marker, body)) if marker != 0xDA => reader.take(marker, body)?,
            _ => break,
        }
    }
    reader.tables.frame.ok_or_else(|| broken("it has no frame"))
}

fn word(high: u8, low: u8) -> usize {
    u16::from_be_bytes([high, low]).into()
}

#[cold]
pub(super) fn broken(why: &str) -> millstream_tensor::Error {
    invalid!("the JPEG file is not valid: {why}")
}

/// The places of coefficients in a block, in the order of the file: along the diagonals.
pub(super) const ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let (mut row, mut column, mut i) = (0usize, 0usize, 0);
    while i < 64 {
        order[i] = (row * 8 + column) as u8;
        i += 1;
        if (row + column).is_multiple_of(2) {
            (row, column) = match (row, column) {
                (r, 7) => (r + 1, 7),
                (0, c) => (0, c + 1),
                (r, c) => (r - 1, c + 1),
            };
        } else {
            (row, column) = match (row, column) {
                (7, c) => (7, c + 1),
                (r, 0) => (r + 1, 0),
                (r, c) => (r + 1, c - 1),
            };
        }
    }
    order
};
