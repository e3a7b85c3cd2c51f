//! How many processes of a job draw from the same memory.

use std::collections::BTreeMap;

use super::{MemoryLimit, limits};

/// By the scope of a limit: how many processes that work together draw from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares(BTreeMap<u64, u64>);

impl Shares {
    /// What a process tells the others: the scopes of its limits.
    #[must_use]
    pub fn record() -> Vec<u8> {
        Self::record_of(&limits())
    }

    fn record_of(limits: &[MemoryLimit]) -> Vec<u8> {
        let mut scopes: Vec<u64> = limits.iter().filter_map(|limit| limit.scope).collect();
        // Two files of one group are one place to draw from.
        scopes.sort_unstable();
        scopes.dedup();
        scopes.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// From the records of all processes, this one's among them.
    #[must_use]
    pub fn among(records: &[Vec<u8>]) -> Self {
        let mut counts = BTreeMap::new();
        for record in records {
            for scope in record.chunks_exact(8).filter_map(|chunk| chunk.first_chunk()) {
                *counts.entry(u64::from_le_bytes(*scope)).or_insert(0) += 1;
            }
        }
        Self(counts)
    }

    /// Processes that draw from a scope, at least one.
    #[must_use]
    pub fn of(&self, scope: Option<u64>) -> u64 {
        scope.and_then(|scope| self.0.get(&scope)).copied().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LimitKind, narrowest};
    use super::*;

    fn limit(kind: LimitKind, left: u64, scope: Option<u64>) -> MemoryLimit {
        MemoryLimit { kind, total: 1000, left, scope }
    }

    #[test]
    fn what_several_processes_draw_from_is_divided_among_them() {
        let machine = |left| limit(LimitKind::Machine, left, Some(7));
        let own = |left| limit(LimitKind::AddressSpace, left, None);
        let group = |left, scope| {
            let kind = LimitKind::Group { file: "memory.max", folder: "/g".into() };
            limit(kind, left, Some(scope))
        };
        // Three processes of one machine, two of them in one container and one in another.
        let records: Vec<Vec<u8>> = [8, 8, 9]
            .map(|scope| Shares::record_of(&[machine(0), group(0, scope), group(0, scope), own(0)]))
            .into();
        let shares = Shares::among(&records);
        let least = |limits: Vec<MemoryLimit>| narrowest(limits, &shares).map(|limit| limit.left);
        assert_eq!(least(vec![machine(900), group(500, 8), own(400)]), Some(250));
        assert_eq!(least(vec![machine(900), group(500, 9), own(400)]), Some(300));
        assert_eq!(least(vec![machine(900), own(200)]), Some(200), "of this process alone");
        assert_eq!(least(Vec::new()), None);
        assert_eq!(Shares::default().of(Some(7)), 1);
        assert_eq!(Shares::among(&[vec![1, 2, 3]]), Shares::default(), "no record");
    }
}
