//! What has to be computed: nodes in order, the arrays they start from, and a key by which the
//! program is known again.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pantile_ir::{ArrayType, Env, Op, Placement, Scalar, Type};
use smallvec::SmallVec;

use super::evaluate::Ends;
use super::fault::Fault;
use super::node::{Node, lock};
use super::session::Session;

/// Nodes in a list that is short as a rule.
pub(crate) type NodeList = SmallVec<[Arc<Node>; 4]>;

/// Nodes to compute, operands before users, and the stored arrays that they read.
///
/// It is valid until the next walk: nodes know their numbers in it.
pub(crate) struct Graph {
    pub(crate) order: NodeList,
    /// In the order in which they are first read: the arguments of the program.
    pub(crate) leaves: NodeList,
    /// The number of the walk: nodes that have it belong to this graph.
    pub(crate) mark: u64,
    /// The ranks that the program needs at least: no node names a higher one.
    pub(crate) ranks: usize,
    /// For every node, how nodes of the graph use it.
    uses: SmallVec<[NodeUse; 4]>,
    /// For every leaf, how often nodes of the graph refer to it.
    leaf_uses: SmallVec<[usize; 4]>,
    /// The hash of its operations but for the values of constants, and that of these.
    key: GraphHash,
    parameters: GraphHash,
}

/// How a graph uses one of its nodes.
#[derive(Clone, Copy, Default)]
struct NodeUse {
    /// How often other nodes of the graph refer to it.
    inside: usize,
    /// It has no operands: computing it again costs less than keeping it.
    cheap: bool,
}

/// Liveness of the nodes of a graph when its program has run.
pub(crate) struct Liveness {
    /// For every node: it is an output, because it was asked for or is still referred to.
    pub(crate) outputs: SmallVec<[bool; 8]>,
    /// For every leaf: it is dead afterwards, so its memory is donated to the program.
    pub(crate) donated: SmallVec<[bool; 8]>,
}

/// Numbers of leaves are told from those of nodes by this bit.
const LEAF: u64 = 1 << 63;

impl Session {
    /// What these targets need.
    pub(crate) fn graph(&self, targets: &[Arc<Node>], ends: Ends<'_>) -> Result<Graph, Fault> {
        let order = self.order(targets, ends)?;
        let mark = self.inner.new_marks(1);
        let (mut leaves, mut leaf_uses) = (NodeList::new(), SmallVec::new());
        let mut uses: SmallVec<[NodeUse; 4]> = SmallVec::new();
        let (mut key, mut parameters) = (GraphHash::default(), GraphHash::default());
        for (number, node) in order.iter().enumerate() {
            node.meet(mark, number as u64);
            let made = lock(&node.made);
            let operands = made.as_ref().map_or(&[][..], |made| &made.operands);
            if let Some(made) = made.as_ref() {
                match &made.op {
                    Op::Constant(value) => value.hash(&mut parameters),
                    op => op.hash(&mut key),
                }
                hash_type(&node.ty, &mut key);
            }
            uses.push(NodeUse { inside: 0, cheap: operands.is_empty() });
            for operand in operands {
                // Nodes in order have been met before.
                if operand.meet(mark, LEAF | leaves.len() as u64) {
                    leaves.push(Arc::clone(operand));
                    leaf_uses.push(0);
                }
                key.write_u64(operand.number());
                match operand.number() {
                    leaf if leaf & LEAF != 0 => leaf_uses[index(leaf ^ LEAF)] += 1,
                    node => uses[index(node)].inside += 1,
                }
            }
        }
        // A node names no lower ranks than its operands did when it was recorded; what was computed since may
        // be on more.
        let ranks = targets.iter().chain(&leaves).map(|node| node.ranks()).max().unwrap_or(0);
        Ok(Graph { order, leaves, mark, ranks, uses, leaf_uses, key, parameters })
    }
}

impl Graph {
    /// Only the targets are outputs, and nothing is donated: what all processes know alike.
    pub(crate) fn target_liveness(&self, targets: &[Arc<Node>]) -> Liveness {
        let wanted = |node: &Arc<Node>| targets.iter().any(|target| Arc::ptr_eq(target, node));
        let outputs = self.order.iter().map(wanted).collect();
        Liveness { outputs, donated: SmallVec::from_elem(false, self.leaves.len()) }
    }

    /// What is not referred to from outside is neither an output nor needed afterwards.
    pub(crate) fn liveness(&self, targets: &[Arc<Node>]) -> Liveness {
        let outputs = self.order.iter().zip(&self.uses).map(|(node, used)| {
            // One reference is the list's own, and one that of the world to an element read.
            let inside = 1 + used.inside + usize::from(node.is_pinned());
            let wanted = || targets.iter().any(|target| Arc::ptr_eq(target, node));
            (Arc::strong_count(node) > inside && !used.cheap) || wanted()
        });
        let donated = self.leaves.iter().zip(&self.leaf_uses);
        let donated = donated.map(|(leaf, inside)| {
            // Others keep what they know.
            Arc::strong_count(leaf) == 1 + inside && leaf.opening().is_none()
        });
        Liveness { outputs: outputs.collect(), donated: donated.collect() }
    }

    /// The numbers in it that are written in the program, with their nodes.
    pub(crate) fn parameters(&self) -> Vec<(Arc<Node>, Scalar)> {
        let number = |node: &Arc<Node>| Some((Arc::clone(node), node.number_value()?));
        self.order.iter().filter_map(number).collect()
    }

    /// The numbers alone.
    pub(crate) fn numbers(&self) -> Vec<Scalar> {
        self.order.iter().filter_map(|node| node.number_value()).collect()
    }

    /// Equal programs have equal keys, on every process.
    pub(crate) fn keys(&self, setting: [usize; 2], liveness: &Liveness) -> Keys {
        let mut key = self.key;
        setting.into_iter().for_each(|number| key.write_usize(number));
        liveness.outputs.hash(&mut key);
        for (leaf, donated) in self.leaves.iter().zip(&liveness.donated) {
            let stored = lock(&leaf.stored);
            let home = stored.as_ref().map_or(0, |stored| stored.home.fingerprint);
            // Where it was made to live does not matter any more: its home says where it does.
            (leaf.ty.shape(), leaf.ty.dtype()).hash(&mut key);
            key.write_u128(home);
            donated.hash(&mut key);
        }
        let open = key.both();
        key.write_u128(self.parameters.both());
        Keys { whole: key.both(), open }
    }
}

/// Types of arrays come with every node: as few words of them as tell them apart.
fn hash_type(ty: &Type, key: &mut GraphHash) {
    let Type::Array(ArrayType { shape, element, layout, envs }) = ty else {
        return ty.hash(key);
    };
    // No other type begins with such a word.
    key.write_u64(!(shape.len() as u64));
    shape.iter().for_each(|length| key.write_u64(length.map_or(u64::MAX, |length| length as u64)));
    let dtype = u64::from(element.dtype.code()) << 8 | element.spelling as u64;
    key.write_u64((envs.len() as u64) << 32 | u64::from(layout.is_some()) << 16 | dtype);
    layout.iter().for_each(|word| word.hash(key));
    envs.iter().for_each(|env| match env {
        // Its text says the same, and takes longer.
        Env::Placement(Placement::At(at)) => key.write_u128(at.fingerprint()),
        env => env.hash(key),
    });
}

/// What a program is known by.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    /// The program as it is.
    pub(crate) whole: u128,
    /// The program with any numbers.
    pub(crate) open: u128,
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Two sums of products of 64 bits each: quick, and long enough that chance does not meet.
#[derive(Clone, Copy)]
struct GraphHash([u64; 2]);

impl Default for GraphHash {
    fn default() -> Self {
        Self([0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f])
    }
}

impl GraphHash {
    fn both(&self) -> u128 {
        let [one, other] = self.0;
        (u128::from(one) << 64) | u128::from(other)
    }
}

/// A hash by which what is remembered is found again.
pub(crate) fn hash_of(value: &impl Hash) -> u128 {
    let mut key = GraphHash::default();
    value.hash(&mut key);
    key.both()
}

/// The upper and the lower half of a product, together.
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    #[allow(clippy::cast_possible_truncation, reason = "the halves")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

impl Hasher for GraphHash {
    fn finish(&self) -> u64 {
        self.0[0]
    }

    fn write(&mut self, bytes: &[u8]) {
        self.write_usize(bytes.len());
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let [one, other] = self.0;
        self.0 = [
            folded(one ^ value, 0xd6e8_feb8_6659_fd93).wrapping_add(other.rotate_left(29)),
            folded(other ^ value.rotate_left(32), 0xa076_1d64_78bd_642f) ^ one.rotate_left(17),
        ];
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> u128 {
        let mut key = GraphHash::default();
        values.iter().for_each(|value| key.write_u64(*value));
        key.both()
    }

    #[test]
    fn keys_of_near_things_differ() {
        let mut lists = std::collections::BTreeSet::new();
        for a in 0..40 {
            for b in 0..40 {
                lists.extend([vec![a, b], vec![a, b, 0], vec![a, b << 32], vec![b, a, 1, a]]);
            }
        }
        let keys: std::collections::BTreeSet<u128> = lists.iter().map(|list| of(list)).collect();
        assert_eq!(keys.len(), lists.len());
    }
}
