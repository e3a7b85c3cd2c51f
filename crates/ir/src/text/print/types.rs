//! Types and attributes as text.

use std::fmt;

use pantile_lanes::DType;

use crate::text::constants::float_text;
use crate::{Attribute, Dim, DistEnv, Element, Env, Spelling, Type};

/// Puts what a type says besides shape and elements into the order that types keep it in: by
/// text, so that the order in which it was written does not matter.
pub fn sort_envs(envs: &mut [Env]) {
    envs.sort_by_cached_key(Env::to_string);
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match (self.dtype, self.spelling) {
            (DType::I64, Spelling::Index) => "index",
            (DType::Bool, _) => "i1",
            (DType::U8, _) => "ui8",
            (DType::U16, _) => "ui16",
            (DType::U32, _) => "ui32",
            (DType::U64, _) => "ui64",
            (DType::C64, _) => "complex<f32>",
            (DType::C128, _) => "complex<f64>",
            (DType::F32, _) => "f32",
            (DType::F64, _) => "f64",
            (signed, spelling) => {
                let sign = if spelling == Spelling::Signed { "s" } else { "" };
                return write!(f, "{sign}{}", signed.name());
            }
        };
        f.write_str(name)
    }
}

struct Length(Dim);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(length) => write!(f, "{length}"),
            None => f.write_str("?"),
        }
    }
}

fn shape_and_element(f: &mut fmt::Formatter<'_>, shape: &[Dim], element: Element) -> fmt::Result {
    shape.iter().try_for_each(|dim| write!(f, "{}x", Length(*dim)))?;
    write!(f, "{element}")
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Scalar(element) => write!(f, "{element}"),
            Self::Handle => f.write_str("!distruntime.asynchandle"),
            Self::MemRef(shape, element) => {
                f.write_str("memref<")?;
                shape_and_element(f, shape, *element)?;
                f.write_str(">")
            }
            Self::Tensor(shape, element) => {
                f.write_str("tensor<")?;
                shape_and_element(f, shape, *element)?;
                f.write_str(">")
            }
            Self::Array(array) => {
                f.write_str("!ndarray.ndarray<")?;
                shape_and_element(f, &array.shape, array.element)?;
                if let Some(layout) = &array.layout {
                    write!(f, " : {}", Quoted(layout))?;
                }
                array.envs.iter().try_for_each(|env| write!(f, ", {env}"))?;
                f.write_str(">")
            }
        }
    }
}

impl fmt::Display for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dist(env) => write!(f, "#dist.dist_env<{env}>"),
            Self::Placement(at) => write!(f, "#pantile.dist<{}>", Quoted(&at.text())),
            Self::Gpu(device) => write!(f, "#region.gpu_env<device = {}>", Quoted(device)),
            Self::Other(attribute) => write!(f, "{attribute}"),
        }
    }
}

/// A team: a whole number shows its type.
pub(super) fn team_text(team: &Attribute) -> String {
    match team {
        Attribute::Int(number, None) => format!("{number} : i64"),
        other => other.to_string(),
    }
}

impl fmt::Display for DistEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "team = {}", team_text(&self.team))?;
        let Some(local) = &self.local else { return Ok(()) };
        if local.offsets.is_empty() {
            return Ok(());
        }
        let offset = |offset: &Option<i64>| offset.map_or("?".to_owned(), |n| n.to_string());
        let offsets: Vec<String> = local.offsets.iter().map(offset).collect();
        let part = |part: &Vec<Dim>| {
            let lengths: Vec<String> = part.iter().map(|dim| Length(*dim).to_string()).collect();
            lengths.join("x")
        };
        let parts: Vec<String> = local.parts.iter().map(part).collect();
        write!(f, " loffs = {} lparts = {}", offsets.join(","), parts.join(","))
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value, None) => write!(f, "{value}"),
            Self::Int(value, Some(ty)) => write!(f, "{value} : {ty}"),
            Self::Float(bits, ty) => {
                let text = float_text(f64::from_bits(*bits));
                match ty {
                    Some(ty) => write!(f, "{text} : {ty}"),
                    // Without its type a hexadecimal number would be a whole one.
                    None if text.starts_with("0x") => write!(f, "{text} : f64"),
                    None => f.write_str(&text),
                }
            }
            Self::Bool(value) => write!(f, "{value}"),
            Self::String(text) => write!(f, "{}", Quoted(text)),
            Self::Symbol(name) => write!(f, "{}", Symbol(name)),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Dict(entries) => write!(f, "{{{}}}", entries_text(entries)),
            Self::Type(ty) => write!(f, "{ty}"),
            Self::Unit => f.write_str("unit"),
            Self::Opaque(text) => f.write_str(text),
        }
    }
}

/// `a = 1, b`: the attributes between braces.
pub(super) fn entries_text(entries: &[(String, Attribute)]) -> String {
    let entry = |(name, value): &(String, Attribute)| {
        let plain =
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && is_word(name);
        let name = if plain { name.clone() } else { Quoted(name).to_string() };
        match value {
            Attribute::Unit => name,
            value => format!("{name} = {value}"),
        }
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$.".contains(&b))
}

/// `@name`, in quotes if it needs them.
pub(super) struct Symbol<'a>(pub(super) &'a str);

impl fmt::Display for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(self.0) { write!(f, "@{}", self.0) } else { write!(f, "@{}", Quoted(self.0)) }
    }
}

/// A string in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_ascii_control() => write!(f, "\\{:02X}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}
