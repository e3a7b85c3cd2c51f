//! Whether the ranks of this host have a core each.

use std::fs;

use crate::raw::{CORE_WORDS, Comm, MpiError};

/// True if more ranks run on this host than there are cores for them. All ranks ask together.
///
/// A launcher may bind each rank to a core of its own, so what counts are the cores that any of
/// them may use.
pub(crate) fn are_oversubscribed(comm: &Comm) -> Result<bool, MpiError> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut cores = allowed(&status)
        .unwrap_or_else(|| first(std::thread::available_parallelism().map_or(1, usize::from)));
    let ranks = comm.on_this_host(&mut cores)?;
    Ok(ranks > count(&cores))
}

/// The cores that a process may use, from the text that Linux keeps about it.
fn allowed(status: &str) -> Option<[u64; CORE_WORDS]> {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"))?;
    let mut cores = [0; CORE_WORDS];
    // Groups of 32 bits, separated by commas, the last one first.
    for (at, group) in line.trim().rsplit(',').enumerate() {
        let bits = u64::from(u32::from_str_radix(group, 16).ok()?);
        *cores.get_mut(at / 2)? |= bits << (32 * (at % 2));
    }
    (count(&cores) > 0).then_some(cores)
}

fn first(number: usize) -> [u64; CORE_WORDS] {
    let mut cores = [0; CORE_WORDS];
    for core in 0..number.min(64 * CORE_WORDS) {
        cores[core / 64] |= 1 << (core % 64);
    }
    cores
}

fn count(cores: &[u64; CORE_WORDS]) -> usize {
    cores.iter().map(|word| word.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(usize, u64)>) {
        let cores = allowed(&format!("Name:\tx\nCpus_allowed:\t{text}\nCpus_allowed_list:\t9\n"));
        assert_eq!(cores.map(|cores| (count(&cores), cores[1])), expected, "{text}");
    }

    #[test]
    fn allowed_cores_are_counted() {
        check("3", Some((2, 0)));
        check("ffffffff,ffffffff", Some((64, 0)));
        check("1,00000000,00000000", Some((1, 1)));
        check("0", None);
        check("x", None);
        check(&["ffffffff"; 40].join(","), None);
        assert_eq!(allowed("Name:\tx\n"), None);
        assert_eq!(count(&first(70)), 70);
    }
}
