//! Operands, results and attributes of one operation.

use std::collections::BTreeSet;

use super::{Checker, sorts, types};
use crate::{Arith, ArrayType, Env, Index, Op, Operation, Slice, Type, Value, infer};

impl<'p> Checker<'p> {
    pub(super) fn operations(&mut self) {
        let function = self.function;
        function.body.walk(&mut |operation| self.one(operation));
    }

    fn one(&mut self, operation: &'p Operation) {
        let before = self.findings.len();
        self.sorts(operation);
        if self.findings.len() > before {
            return;
        }
        self.scalars(operation);
        self.attributes(operation);
        self.homes(operation);
        if self.findings.len() == before {
            self.inferred(operation);
        }
    }

    fn sorts(&mut self, operation: &Operation) {
        let (first, others, results) = sorts::of(&operation.op);
        for (number, value) in operation.operands.iter().enumerate() {
            let mut sort = first.get(number).copied().unwrap_or(others);
            // All operands of `create` but the value are lengths, those of `init_dist_array`
            // offsets and parts.
            match operation.op {
                Op::Create { .. } if number + 1 < operation.operands.len() => {
                    sort = sorts::Sort::Index;
                }
                Op::InitDist => {
                    let offsets = self.ty(operation.results[0]).shape().len();
                    sort = if number < offsets { sorts::Sort::Index } else { sorts::Sort::Local };
                }
                _ => {}
            }
            let ty = self.ty(*value);
            if !sort.fits(ty) {
                let message = format!("operand {number} is of type {ty}, expected {}", sort.name());
                self.report(operation, message);
            }
        }
        for (number, value) in operation.results.iter().enumerate() {
            let sort = results.get(number).or(results.last()).copied().unwrap_or(sorts::Sort::Any);
            let ty = self.ty(*value);
            if !sort.fits(ty) {
                let message = format!("result {number} is of type {ty}, expected {}", sort.name());
                self.report(operation, message);
            }
        }
    }

    /// Scalars of one type.
    fn scalars(&mut self, operation: &Operation) {
        let operands = self.types_of(&operation.operands);
        let same = match operation.op {
            Op::Arith(Arith::NegF) => &operands[..],
            Op::Arith(_) | Op::Compare(_) => &operands[..],
            Op::SelectScalar => &operands[1..],
            _ => return,
        };
        if same.windows(2).any(|pair| pair[0] != pair[1]) {
            let message = format!("takes {}, expected equal types", super::list(same.to_vec()));
            self.report(operation, message);
        }
        if operation.op == Op::SelectScalar
            && *operands[0] != Type::scalar(pantile_lanes::DType::Bool)
        {
            self.report(operation, format!("selects by a {}, expected i1", operands[0]));
        }
    }

    /// Axes, slices, widths.
    fn attributes(&mut self, operation: &Operation) {
        let array = |value: Option<&Value>| value.and_then(|value| self.ty(*value).as_array());
        let source = array(operation.operands.first());
        let made = array(operation.results.first());
        let ndim = |array: Option<&ArrayType>| array.map_or(0, ArrayType::ndim);
        let message = match &operation.op {
            Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => {
                slice_problem(slice, ndim(source))
            }
            Op::InsertSlice(slice) | Op::ImmutableInsertSlice(slice) => {
                slice_problem(slice, ndim(array(operation.operands.get(1))))
            }
            Op::Permute(axes) | Op::CopyPermute { axes, .. } => permutation(axes, ndim(source)),
            Op::Reduce { axes: Some(axes), .. } => axes_problem(axes, ndim(source)),
            Op::IndexAlong { axis } => axes_problem(&[*axis], ndim(made)),
            Op::Eye { .. } if ndim(made) != 2 => {
                Some(format!("gives an array of {} axes, expected 2", ndim(made)))
            }
            Op::Linspace { .. } | Op::Arange if ndim(made) != 1 => {
                Some(format!("gives an array of {} axes, expected 1", ndim(made)))
            }
            Op::Halo { low, high } if low.len() != ndim(source) || high.len() != ndim(source) => {
                let (low, high) = (low.len(), high.len());
                Some(format!("got {low} and {high} widths, expected {} each", ndim(source)))
            }
            _ => None,
        };
        if let Some(message) = message {
            self.report(operation, message);
        }
    }

    /// Arrays that are combined live in one team, on one device.
    fn homes(&mut self, operation: &Operation) {
        let together = matches!(
            operation.op,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Where
                | Op::Clip
                | Op::MatMul
                | Op::Stencil { .. }
                | Op::InsertSlice(_)
                | Op::ImmutableInsertSlice(_)
                | Op::DistUnary(_)
                | Op::DistBinary(_)
                | Op::DistSubview { .. }
                | Op::Repartition { .. }
        );
        if !together {
            return;
        }
        let values = operation.operands.iter().chain(&operation.results);
        let arrays: Vec<&ArrayType> = values.filter_map(|v| self.ty(*v).as_array()).collect();
        let teams: BTreeSet<String> = arrays
            .iter()
            .filter_map(|array| array.dist_env())
            .map(|dist| dist.team.to_string())
            .collect();
        let device = |env: &Env| match env {
            Env::Gpu(device) => Some(format!("{device:?}")),
            _ => None,
        };
        let devices: BTreeSet<String> =
            arrays.iter().flat_map(|array| array.envs.iter().filter_map(device)).collect();
        for (what, names) in [("teams", teams), ("devices", devices)] {
            if names.len() > 1 {
                let names: Vec<String> = names.into_iter().collect();
                let message = format!("got arrays of {what} {}, expected one", names.join(" and "));
                self.report(operation, message);
            }
        }
    }

    /// What is declared must fit what follows from the operands.
    fn inferred(&mut self, operation: &Operation) {
        let values = operation.operands.iter().chain(&operation.results);
        if values.clone().any(|value| !types::wrong(self.ty(*value)).is_empty()) {
            return;
        }
        // That a function is missing has been said where functions are checked.
        if let Op::MapBlocks { function, .. } = &operation.op
            && self.program.function(function).is_none()
        {
            return;
        }
        match infer::result_types(self.function, operation, self.program) {
            Err(error) => self.report(operation, error.to_string()),
            Ok(types) if types.len() != operation.results.len() => {
                let got = operation.results.len();
                self.report(operation, format!("has {got} results, expected {}", types.len()));
            }
            Ok(types) => {
                for (value, inferred) in operation.results.iter().zip(&types) {
                    let declared = self.ty(*value);
                    if !compatible(declared, inferred) {
                        let message = format!(
                            "the result is declared as {declared}, its operands give {inferred}"
                        );
                        self.report(operation, message);
                    }
                }
            }
        }
    }
}

/// Equal but for lengths that are not known, and for where arrays live.
fn compatible(one: &Type, other: &Type) -> bool {
    let scalar = |ty: &Type| matches!(ty, Type::Index | Type::Scalar(_));
    let sort = match (one, other) {
        (Type::Array(_), Type::Array(_))
        | (Type::MemRef(..), Type::MemRef(..))
        | (Type::Tensor(..), Type::Tensor(..))
        | (Type::Handle, Type::Handle) => true,
        _ => scalar(one) && scalar(other),
    };
    let fits = |(a, b): (&Option<usize>, &Option<usize>)| a.is_none() || b.is_none() || a == b;
    sort && one.dtype() == other.dtype()
        && one.shape().len() == other.shape().len()
        && one.shape().iter().zip(other.shape()).all(fits)
}

fn slice_problem(slice: &Slice, ndim: usize) -> Option<String> {
    let lists = [&slice.offsets, &slice.sizes, &slice.strides];
    if lists.iter().any(|list| list.len() != ndim) {
        let [offsets, sizes, strides] = lists.map(Vec::len);
        return Some(format!(
            "got {offsets} offsets, {sizes} sizes and {strides} strides, expected {ndim} each"
        ));
    }
    if slice.strides.contains(&Index::Known(0)) {
        return Some("got a stride of 0".to_owned());
    }
    let negative = |entry: &&Index| matches!(entry, Index::Known(number) if *number < 0);
    if slice.sizes.iter().any(|entry| negative(&entry)) {
        return Some("got a size below 0".to_owned());
    }
    None
}

fn permutation(axes: &[usize], ndim: usize) -> Option<String> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let fits = sorted.into_iter().eq(0..ndim);
    (!fits).then(|| format!("got axes {axes:?}, expected a permutation of {ndim}"))
}

fn axes_problem(axes: &[usize], ndim: usize) -> Option<String> {
    let unique: BTreeSet<usize> = axes.iter().copied().collect();
    if let Some(axis) = unique.iter().find(|axis| **axis >= ndim) {
        return Some(format!("got axis {axis} of an array of {ndim} axes"));
    }
    (unique.len() != axes.len()).then(|| format!("got axes {axes:?}, expected different ones"))
}
