//! Element types.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it; `name` and `tf_name` give the words")]
pub enum DType {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    C64,
    C128,
    /// A quantised type: stored, moved and cast, but never computed with. So are the four below.
    QI8,
    QU8,
    QI16,
    QU16,
    QI32,
    Str,
    Resource,
    Variant,
}

use DType::*;

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [DType; 23] = [
        F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool, C64, C128, QI8, QU8, QI16, QU16,
        QI32, Str, Resource, Variant,
    ];

    /// The short name, as in the text form and in messages: `f32`.
    pub fn name(self) -> &'static str {
        match self {
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            Bool => "bool",
            C64 => "c64",
            C128 => "c128",
            QI8 => "qi8",
            QU8 => "qu8",
            QI16 => "qi16",
            QU16 => "qu16",
            QI32 => "qi32",
            Str => "str",
            Resource => "resource",
            Variant => "variant",
        }
    }

    /// The name in messages of TensorFlow's C++ code: `float`, `double` and `half` for the floats.
    pub fn kernel_name(self) -> &'static str {
        match self {
            F16 => "half",
            F32 => "float",
            F64 => "double",
            other => other.tf_name(),
        }
    }

    /// TensorFlow's Python name: `float32`.
    pub fn tf_name(self) -> &'static str {
        match self {
            F16 => "float16",
            BF16 => "bfloat16",
            F32 => "float32",
            F64 => "float64",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
            Bool => "bool",
            C64 => "complex64",
            C128 => "complex128",
            QI8 => "qint8",
            QU8 => "quint8",
            QI16 => "qint16",
            QU16 => "quint16",
            QI32 => "qint32",
            Str => "string",
            Resource => "resource",
            Variant => "variant",
        }
    }

    /// The dtype with this short or TensorFlow name.
    pub fn parse(name: &str) -> Option<DType> {
        Self::ALL.into_iter().find(|d| d.name() == name || d.tf_name() == name)
    }

    /// The number of the type in TensorFlow's protobuf messages.
    pub fn number(self) -> i32 {
        match self {
            F32 => 1,
            F64 => 2,
            I32 => 3,
            U8 => 4,
            I16 => 5,
            I8 => 6,
            Str => 7,
            C64 => 8,
            I64 => 9,
            Bool => 10,
            QI8 => 11,
            QU8 => 12,
            QI32 => 13,
            BF16 => 14,
            QI16 => 15,
            QU16 => 16,
            U16 => 17,
            C128 => 18,
            F16 => 19,
            Resource => 20,
            Variant => 21,
            U32 => 22,
            U64 => 23,
        }
    }

    /// The dtype with this number, if there is one.
    pub fn from_number(number: i32) -> Option<DType> {
        Self::ALL.into_iter().find(|d| d.number() == number)
    }

    /// The size of an element in bytes; `None` for strings, resources and variants, which are not plain data.
    pub fn size(self) -> Option<usize> {
        Some(match self {
            I8 | U8 | Bool | QI8 | QU8 => 1,
            F16 | BF16 | I16 | U16 | QI16 | QU16 => 2,
            F32 | I32 | U32 | QI32 => 4,
            F64 | I64 | U64 | C64 => 8,
            C128 => 16,
            Str | Resource | Variant => return None,
        })
    }

    /// Whether the type is f16, bf16, f32 or f64.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | BF16 | F32 | F64)
    }

    /// Whether the type is a signed or unsigned integer; false for bool and the quantised types.
    pub fn is_integer(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
    }

    /// Whether gradients flow along values of this type: floats, complex numbers, and the types that may hold
    /// them (variants, resources).
    pub fn carries_gradients(self) -> bool {
        self.is_float() || self.is_complex() || matches!(self, Variant | Resource)
    }

    /// Whether the type is complex64 or complex128.
    pub fn is_complex(self) -> bool {
        matches!(self, C64 | C128)
    }

    /// Whether the type is one of the five quantised types.
    pub fn is_quantized(self) -> bool {
        matches!(self, QI8 | QU8 | QI16 | QU16 | QI32)
    }

    /// Whether the type is a float, an integer or a complex number.
    pub fn is_number(self) -> bool {
        self.is_float() || self.is_integer() || self.is_complex()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
