//! What the figures were measured on.

use pantile_kernels::Vectors;
use pantile_text::json::Value;

use super::figure::number;
use pantile_text::numbers::bytes;

/// A machine, as far as it says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchMachine {
    /// The processor's name.
    processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// The instruction set that loops run with.
    vectors: &'static str,
    /// Caches of data: level and bytes.
    caches: Vec<(usize, u64)>,
    /// How many programs wanted a core in the last minute, in hundredths.
    load: Option<u64>,
}

impl BenchMachine {
    /// This machine.
    pub fn here() -> Self {
        let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = about.lines().find_map(|line| line.strip_prefix("model name"));
        let name = name.and_then(|rest| rest.split_once(':')).map(|(_, name)| name.trim());
        Self {
            processor: name.unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            vectors: Vectors::widest().name(),
            caches: (0..8).filter_map(cache).collect(),
            load: load(),
        }
    }

    /// A line about it.
    pub fn text(&self) -> String {
        let cores = pantile_text::numbers::plural(self.cores as u128, "core");
        let mut text = format!("{}, {cores}, {}", self.processor, self.vectors);
        for (level, size) in &self.caches {
            text.push_str(&format!(", L{level} {}", bytes((*size).into())));
        }
        if let Some(load) = self.load {
            text.push_str(&format!(", load {}.{:02} before", load / 100, load % 100));
        }
        text
    }

    /// True if others wanted a good part of it before anything was measured.
    pub fn is_busy(&self) -> bool {
        self.load.is_some_and(|load| load > 50 * self.cores as u64)
    }

    /// The same as data.
    pub fn json(&self) -> Value {
        let cache = |(level, size): &(usize, u64)| {
            Value::object([("level", Value::from(*level)), ("bytes", Value::from(*size))])
        };
        Value::object([
            ("processor", self.processor.as_str().into()),
            ("cores", self.cores.into()),
            ("vectors", self.vectors.into()),
            ("caches", Value::array(self.caches.iter().map(cache))),
            ("load", self.load.map_or_else(Value::null, |load| number(load as f64 / 100.0))),
        ])
    }
}

/// The load of the last minute, in hundredths.
fn load() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let (whole, parts) = text.split_whitespace().next()?.split_once('.')?;
    Some(whole.parse::<u64>().ok()? * 100 + parts.parse::<u64>().ok()?)
}

/// A cache of the first core, if it has data: its level and bytes.
fn cache(index: usize) -> Option<(usize, u64)> {
    let read = |what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
        std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    };
    if read("type")? == "Instruction" {
        return None;
    }
    let size = read("size")?;
    let kilobytes: u64 = size.strip_suffix('K')?.parse().ok()?;
    Some((read("level")?.parse().ok()?, kilobytes * 1024))
}
