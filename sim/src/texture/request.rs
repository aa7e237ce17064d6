// SPDX-License-Identifier: MIT
//! What a texture bundle asks for (isa-3, 2.2 to 2.7).

use agx_isa::{FormId, Instr, Value, texture_mode};

/// Which coordinates a bundle gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// x, y.
    Flat,
    /// x, y and a layer.
    Layered,
    /// x, y, z.
    Volume,
    /// x, y on a face.
    Cube,
}

/// Where the level of detail comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The quad's coordinates; 0 outside the fragment stage.
    Implicit,
    /// The same and a bias.
    Bias,
    /// A level.
    Level,
    /// Gradients.
    Gradients,
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A filtered sample, compared or not.
    Sample,
    /// A texel at whole coordinates.
    Fetch,
    /// One component of the four texels of a footprint, compared or not.
    Gather,
    /// The clamped and the unclamped level of detail.
    Query,
}

/// A texture bundle, without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What comes back.
    pub kind: Kind,
    /// Which coordinates are given.
    pub coordinates: Coordinates,
    /// Where the level of detail comes from; of a fetch, [`Detail::Level`].
    pub detail: Detail,
    /// The level or bias is in the instruction, in eighths, not in W3.
    pub immediate: Option<i16>,
    /// W2 is a reference to compare with.
    pub compare: bool,
    /// W2 of a fetch holds layer and sample.
    pub multisample: bool,
    /// Component of a gather.
    pub component: u8,
    /// Texels added to x and y.
    pub offset: [i8; 2],
    /// Publication words read, from the block's base.
    pub words: u16,
}

impl Request {
    /// What the bundle asks for; `None` for other forms and modes that the table has not.
    #[must_use]
    pub fn of(instr: &Instr) -> Option<Request> {
        if instr.id() != FormId::Tex {
            return None;
        }
        let mode = texture_mode(instr.modifier("mode")?)?;
        let has = |part: &str| mode.name.split('_').any(|p| p == part);
        let gather = instr.modifier("gather")? == 1;
        let fetch = has("fetch");
        let kind = match instr.modifier("kind")? {
            2 => Kind::Query,
            _ if gather => Kind::Gather,
            _ if fetch => Kind::Fetch,
            _ => Kind::Sample,
        };
        let coordinates = match mode.name.split('_').next()? {
            "3d" => Coordinates::Volume,
            "cube" => Coordinates::Cube,
            _ if has("array") => Coordinates::Layered,
            _ => Coordinates::Flat,
        };
        let detail = if has("grad") {
            Detail::Gradients
        } else if has("bias") {
            Detail::Bias
        } else if has("lod") || fetch {
            Detail::Level
        } else {
            Detail::Implicit
        };
        // Nine bits of which bit 90 has the weight 1; that they are signed like W3's is INFERRED.
        let nine = instr.modifier("lod")? as i16;
        let nibble = |name: &str| Some((instr.modifier(name)? as i8) << 4 >> 4);
        Some(Request {
            kind,
            coordinates,
            detail,
            immediate: has("imm").then_some(nine << 7 >> 7),
            compare: has("cmp"),
            multisample: has("ms"),
            component: instr.modifier("sel")? as u8 & 3,
            offset: [nibble("offset_x")?, nibble("offset_y")?],
            words: mode.words,
        })
    }

    /// Does it read W3: layer, face, level or bias?
    #[inline(always)]
    #[must_use]
    pub fn reads_w3(&self) -> bool {
        self.words & 8 != 0
    }

    /// As two words, for a micro-op.
    #[must_use]
    pub fn pack(&self) -> [u32; 2] {
        let (has, immediate) = match self.immediate {
            Some(value) => (1, value as u16),
            None => (0, 0),
        };
        let first = self.kind as u32
            | (self.coordinates as u32) << 2
            | (self.detail as u32) << 4
            | has << 6
            | u32::from(self.compare) << 7
            | u32::from(self.multisample) << 8
            | u32::from(self.component) << 9
            | u32::from(self.words) << 16;
        let nibble = |value: i8| value as u32 & 15;
        let second =
            u32::from(immediate) | nibble(self.offset[0]) << 16 | nibble(self.offset[1]) << 20;
        [first, second]
    }

    /// The opposite of [`Request::pack`].
    #[inline(always)]
    #[must_use]
    pub fn unpack([first, second]: [u32; 2]) -> Request {
        let nibble = |shift: u32| (second >> shift << 4) as i8 >> 4;
        Request {
            kind: match first & 3 {
                0 => Kind::Sample,
                1 => Kind::Fetch,
                2 => Kind::Gather,
                _ => Kind::Query,
            },
            coordinates: match first >> 2 & 3 {
                0 => Coordinates::Flat,
                1 => Coordinates::Layered,
                2 => Coordinates::Volume,
                _ => Coordinates::Cube,
            },
            detail: match first >> 4 & 3 {
                0 => Detail::Implicit,
                1 => Detail::Bias,
                2 => Detail::Level,
                _ => Detail::Gradients,
            },
            immediate: (first >> 6 & 1 == 1).then_some(second as u16 as i16),
            compare: first >> 7 & 1 == 1,
            multisample: first >> 8 & 1 == 1,
            component: (first >> 9 & 3) as u8,
            offset: [nibble(16), nibble(20)],
            words: (first >> 16) as u16,
        }
    }
}

/// The index of an operand in a table of the stage.
#[must_use]
pub fn index(instr: &Instr, operand: usize) -> Option<u32> {
    match instr.arg(operand).value {
        Value::Reg(reg) => Some(reg.index.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agx_isa::{Mode, decode};

    fn request(hex: &str) -> Request {
        let bytes: Vec<u8> = hex
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        let request = Request::of(&decode(&bytes, Mode::Strict).unwrap()).unwrap();
        assert_eq!(Request::unpack(request.pack()), request);
        request
    }

    /// Examples of isa-3, 2.7 and 2.11.
    #[test]
    fn examples_of_the_chapter() {
        let plain = request("05 80 0c b8 b0 00 00 00 00 00 10 00 01 00");
        assert_eq!(plain.kind, Kind::Sample);
        assert_eq!(plain.coordinates, Coordinates::Flat);
        assert_eq!(plain.detail, Detail::Implicit);
        assert_eq!(
            (plain.words, plain.compare, plain.immediate),
            (3, false, None)
        );

        let gather = request("05 80 0c a4 90 00 01 02 00 18 00 00 01 0e");
        assert_eq!(gather.kind, Kind::Gather);
        assert_eq!((gather.component, gather.offset), (0, [3, -2]));
        assert_eq!(
            request("05 80 0c bc 90 00 00 00 00 00 00 00 01 00").component,
            3
        );

        let fetch = request("25 80 0c a1 92 00 a0 24 80 01 00 00 01 00");
        assert_eq!(
            (fetch.kind, fetch.coordinates),
            (Kind::Fetch, Coordinates::Layered)
        );
        assert_eq!(fetch.detail, Detail::Level);

        let shadow = request("45 bc 4c a3 98 b4 28 05 80 00 00 00 01 00");
        assert_eq!((shadow.kind, shadow.compare), (Kind::Sample, true));
        assert_eq!(
            (shadow.coordinates, shadow.detail),
            (Coordinates::Layered, Detail::Level)
        );

        assert!(request("05 80 0c b8 b0 00 80 14 00 00 00 00 01 00").multisample);
        let volume = request("05 80 0c b8 b0 00 88 21 00 00 10 00 01 00");
        assert_eq!(
            (volume.coordinates, volume.words),
            (Coordinates::Volume, 15)
        );
        let cube = request("05 80 0c b8 b0 00 00 03 00 00 10 00 01 00");
        assert_eq!(cube.coordinates, Coordinates::Cube);
        // Level 1 in the instruction: byte 11 = 04.
        let level = request("05 80 0c b8 b0 00 09 00 00 00 10 04 01 00");
        assert_eq!((level.detail, level.immediate), (Detail::Level, Some(8)));
    }
}
