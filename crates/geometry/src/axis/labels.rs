//! Label lists: which coordinate lists which index, both ways.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::View;
use crate::Error;
use crate::index::IndexSet;

/// Total number of labels accepted on one axis: every rank knows all lists.
pub const LABEL_LIMIT: usize = 1 << 26;

/// The label lists of an `Indexed` axis, one per coordinate, in local order.
///
/// Without a universe the labels are the global indices `0..length`. With a universe (an
/// ascending list of labels) the axis has its length and the global index of a label is its
/// position in it.
#[derive(Clone)]
pub struct Labels {
    lists: Arc<Lists>,
}

struct Lists {
    /// Entries of coordinate `c` are `starts[c]..starts[c + 1]`.
    starts: Vec<usize>,
    /// Global index of each entry, in local order.
    indices: Vec<usize>,
    universe: Option<Vec<i64>>,
    /// Made when first asked for: who lists an index. Depends on nothing but the lists.
    inverse: OnceLock<Inverse>,
}

/// Entries sorted by (index, coordinate).
struct Inverse {
    /// `(coordinate, entry)`; 32 bits are enough for `LABEL_LIMIT` entries.
    entries: Vec<(u32, u32)>,
    /// Where an index starts in `entries`; empty if the axis is much longer than the lists.
    first: Vec<u32>,
    one_to_one: bool,
}

impl Labels {
    /// Lists of labels, one per coordinate, on axis number `axis` (for errors) of `length`.
    ///
    /// # Errors
    /// There are too many labels, one is repeated within a list or not on the axis, or the
    /// universe is not ascending or has another length.
    pub(crate) fn new(
        axis: usize,
        length: usize,
        lists: &[Vec<i64>],
        universe: Option<Vec<i64>>,
    ) -> Result<Self, Error> {
        let total: usize = lists.iter().map(Vec::len).sum();
        if total > LABEL_LIMIT {
            let (got, limit) = (total as u128, LABEL_LIMIT as u128);
            return Err(Error::TooLarge { what: "number of labels on one axis", got, limit });
        }
        check_universe(axis, length, universe.as_deref())?;
        let mut starts = vec![0];
        let mut indices = Vec::with_capacity(total);
        for (coordinate, list) in lists.iter().enumerate() {
            for label in list {
                let at = match &universe {
                    Some(universe) => universe.binary_search(label).ok(),
                    None => usize::try_from(*label).ok().filter(|at| *at < length),
                };
                indices.push(at.ok_or(Error::Label { axis, coordinate, label: *label })?);
            }
            starts.push(indices.len());
        }
        let labels =
            Self { lists: Arc::new(Lists { starts, indices, universe, inverse: OnceLock::new() }) };
        labels.check_repeats(lists)?;
        Ok(labels)
    }

    fn check_repeats(&self, lists: &[Vec<i64>]) -> Result<(), Error> {
        for (coordinate, list) in lists.iter().enumerate() {
            if self.list(coordinate).windows(2).all(|pair| pair[0] < pair[1]) {
                continue;
            }
            let mut own = self.list(coordinate).to_vec();
            own.sort_unstable();
            if let Some(pair) = own.windows(2).find(|pair| pair[0] == pair[1]) {
                let at = self.list(coordinate).iter().position(|index| *index == pair[0]);
                let value = list[at.expect("the repeated index came from the list")];
                return Err(Error::Repeated { what: "label", value });
            }
        }
        Ok(())
    }

    /// Number of coordinates.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.lists.starts.len() - 1
    }

    /// Global indices listed by a coordinate, in local order.
    #[must_use]
    pub fn list(&self, coordinate: usize) -> &[usize] {
        let starts = &self.lists.starts;
        &self.lists.indices[starts[coordinate]..starts[coordinate + 1]]
    }

    /// The universe, if there is one.
    #[must_use]
    pub fn universe(&self) -> Option<&[i64]> {
        self.lists.universe.as_deref()
    }

    /// The label of a global index.
    #[must_use]
    pub fn label(&self, global: usize) -> i64 {
        match &self.lists.universe {
            Some(universe) => universe[global],
            None => crate::number::position(global),
        }
    }

    fn inverse(&self) -> &Inverse {
        self.lists.inverse.get_or_init(|| Inverse::new(&self.lists))
    }

    /// `(coordinate, entry)` of all that list `base`, by ascending coordinate.
    fn holders(&self, base: usize) -> &[(u32, u32)] {
        let Inverse { entries, first, .. } = self.inverse();
        if first.is_empty() {
            let of = |entry: &(u32, u32)| self.lists.indices[entry.1 as usize];
            let from = entries.partition_point(|entry| of(entry) < base);
            let to = entries.partition_point(|entry| of(entry) <= base);
            &entries[from..to]
        } else if base + 1 < first.len() {
            &entries[first[base] as usize..first[base + 1] as usize]
        } else {
            &[]
        }
    }

    /// Coordinates that list `base`, ascending.
    pub(super) fn coordinates(&self, base: usize) -> Vec<usize> {
        self.holders(base).iter().map(|(coordinate, _)| *coordinate as usize).collect()
    }

    /// Place of `base` in the list of `coordinate`.
    pub(super) fn place(&self, coordinate: usize, base: usize) -> Option<usize> {
        let entry = self.holders(base).iter().find(|(c, _)| *c as usize == coordinate)?.1;
        Some(entry as usize - self.lists.starts[coordinate])
    }

    /// The indices of `piece` grouped by the coordinates that list them.
    pub(super) fn split(
        &self,
        view: &View,
        piece: &IndexSet,
        only: Option<usize>,
    ) -> Vec<(Vec<usize>, IndexSet)> {
        let mut single: Vec<Vec<usize>> = vec![Vec::new(); self.parts()];
        let mut several: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        let mut put = |k: usize| match self.holders(view.base(k)) {
            [(coordinate, _)] => single[*coordinate as usize].push(k),
            _ => several.entry(self.coordinates(view.base(k))).or_default().push(k),
        };
        match only {
            // One coordinate: look at its own list, not at the whole axis.
            Some(coordinate) => {
                let seen = self.list(coordinate).iter().filter_map(|base| view.visible(*base));
                let mut own: Vec<usize> = seen.filter(|k| piece.contains(*k)).collect();
                own.sort_unstable();
                own.into_iter().for_each(&mut put);
            }
            None => {
                let mut all: Vec<usize> = piece.iter().collect();
                all.sort_unstable();
                all.into_iter().for_each(&mut put);
            }
        }
        let single = single.into_iter().enumerate().filter(|(_, list)| !list.is_empty());
        let mut groups: Vec<(Vec<usize>, IndexSet)> = single
            .map(|(coordinate, list)| (vec![coordinate], list))
            .chain(several)
            .map(|(coordinates, list)| (coordinates, IndexSet::from_list(list)))
            .collect();
        groups.sort_unstable();
        groups
    }

    /// True if every index of an axis of length `length` stands in exactly one list.
    pub(super) fn is_one_to_one(&self, length: usize) -> bool {
        self.inverse().one_to_one && self.lists.indices.len() == length
    }
}

impl Inverse {
    fn new(lists: &Lists) -> Self {
        let small = |n: usize| u32::try_from(n).expect("at most 2^26 labels and coordinates");
        let mut entries: Vec<(u32, u32)> = Vec::with_capacity(lists.indices.len());
        for (coordinate, bounds) in lists.starts.windows(2).enumerate() {
            entries.extend((bounds[0]..bounds[1]).map(|e| (small(coordinate), small(e))));
        }
        let top = lists.indices.iter().max().map_or(0, |top| top + 1);
        let mut first = Vec::new();
        if top <= 4 * lists.indices.len() + 1024 {
            // Counting sort; entries come by ascending coordinate, and it is stable.
            first = vec![0_u32; top + 1];
            lists.indices.iter().for_each(|at| first[at + 1] += 1);
            (0..top).for_each(|at| first[at + 1] += first[at]);
            let mut next = first.clone();
            let mut sorted = vec![(0, 0); entries.len()];
            for entry in entries {
                let slot = &mut next[lists.indices[entry.1 as usize]];
                sorted[*slot as usize] = entry;
                *slot += 1;
            }
            entries = sorted;
        } else {
            entries.sort_by_key(|entry| lists.indices[entry.1 as usize]);
        }
        let of = |entry: &(u32, u32)| lists.indices[entry.1 as usize];
        let one_to_one = entries.windows(2).all(|pair| of(&pair[0]) != of(&pair[1]));
        Self { entries, first, one_to_one }
    }
}

fn check_universe(axis: usize, length: usize, universe: Option<&[i64]>) -> Result<(), Error> {
    let Some(universe) = universe else { return Ok(()) };
    if universe.len() != length {
        let what = "labels in the universe";
        return Err(Error::Count { what, got: universe.len(), expected: length });
    }
    if universe.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Error::ArrayAxis { axis, problem: "has a universe that is not ascending" });
    }
    Ok(())
}

/// Equal lists in equal order.
impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lists, &other.lists) || self.key() == other.key()
    }
}

impl Eq for Labels {}

type Key<'a> = (&'a [usize], &'a [usize], Option<&'a [i64]>);

impl Labels {
    /// What equality, order and hash see.
    fn key(&self) -> Key<'_> {
        (&self.lists.starts, &self.lists.indices, self.universe())
    }

    /// Base indices of one list as kept by `view`, in local order.
    pub(super) fn kept(&self, view: &View, coordinate: usize) -> Vec<usize> {
        self.list(coordinate).iter().filter_map(|base| view.visible(*base)).collect()
    }

    /// Local places of visible indices that `coordinate` lists: places among the kept entries.
    /// `whole` says that the view shows the axis unchanged.
    pub(super) fn locate(
        &self,
        view: &View,
        whole: bool,
        coordinate: usize,
        wanted: &mut dyn Iterator<Item = usize>,
    ) -> Option<Vec<usize>> {
        if whole {
            return wanted.map(|k| self.place(coordinate, k)).collect();
        }
        let kept = self.kept(view, coordinate);
        let mut sorted: Vec<(usize, usize)> =
            kept.into_iter().enumerate().map(|(local, k)| (k, local)).collect();
        sorted.sort_unstable();
        let find = |k: usize| {
            let at = sorted.binary_search_by_key(&k, |entry| entry.0).ok()?;
            Some(sorted[at].1)
        };
        wanted.map(find).collect()
    }
}

impl std::hash::Hash for Labels {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for Labels {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Labels {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl std::fmt::Debug for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Labels({} on {} coordinates)", self.lists.indices.len(), self.parts())
    }
}
