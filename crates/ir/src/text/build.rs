//! From the name and the attributes of an operation to what it does.

use super::attributes::Dict;
use super::names::{self, Function};
use super::reader::{Parsed, Reader};
use crate::{Attribute, Boundary, Index, Named, Op, Random, Reduction, Slice, Type};

/// What stands for a value in the attributes `static_offsets`, `static_sizes`, `static_strides`.
pub(super) const DYNAMIC: i64 = i64::MIN;

/// What is known of an operation besides its attributes.
pub(super) struct Head<'h> {
    pub(super) name: &'h str,
    pub(super) at: usize,
    pub(super) operands: Vec<&'h Type>,
    pub(super) results: Vec<&'h Type>,
}

impl Reader<'_> {
    /// The operation with this name, or None if there is none. Takes its attributes out of `dict`.
    pub(super) fn build(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Option<Op>> {
        // The lengths of lists of operands follow from types and attributes.
        dict.take("operandSegmentSizes");
        dict.take("resultSegmentSizes");
        if let Some(op) = simple(head.name) {
            return Ok(Some(op));
        }
        if let Some(op) = self.build_array(head, dict)? {
            return Ok(Some(op));
        }
        if let Some(op) = self.build_creation(head, dict)? {
            return Ok(Some(op));
        }
        self.build_dist(head, dict)
    }

    fn build_creation(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Option<Op>> {
        Ok(Some(match head.name {
            "arith.constant" | "complex.constant" => self.generic_constant(head, dict)?,
            "arith.cmpi" | "arith.cmpf" => {
                // Between quotes either spelling will do, and a number.
                let (given, at) = self.need(head, dict, "predicate")?;
                let predicate = match &given {
                    Attribute::String(text) => {
                        names::predicate(text, false).or(names::predicate(text, true))
                    }
                    other => other.as_int().and_then(|number| {
                        names::numbered_predicate(number, head.name == "arith.cmpf")
                    }),
                };
                let predicate = predicate
                    .ok_or_else(|| self.fault(at, format!("there is no comparison {given}")))?;
                Op::Compare(predicate)
            }
            "region.env_region" => Op::Region(self.need(head, dict, "env")?.0),
            "ndarray.create" => {
                let ndim = head.results.first().map_or(0, |ty| ty.shape().len());
                let value = self.flag(dict, "value")?;
                Op::Create { value: value.unwrap_or(head.operands.len() > ndim) }
            }
            "ndarray.linspace" => {
                Op::Linspace { endpoint: self.flag(dict, "endpoint")?.unwrap_or(false) }
            }
            "ndarray.eye" => Op::Eye { k: self.whole(dict, "k")?.unwrap_or(0) },
            "ndarray.random" => {
                let (kind, at) = self.need_string(head, dict, "kind")?;
                let kind = match kind.as_str() {
                    "uniform" => Random::Uniform,
                    "normal" => Random::Normal,
                    other => {
                        let message =
                            format!("expected \"uniform\" or \"normal\", found {other:?}");
                        return Err(self.fault(at, message));
                    }
                };
                Op::Random { kind, stream: self.whole(dict, "stream")?.unwrap_or(0) }
            }
            "ndarray.index" => {
                let axis = self.whole(dict, "axis")?;
                Op::IndexAlong { axis: axis.ok_or_else(|| self.missing(head, "axis"))? }
            }
            _ => return Ok(None),
        }))
    }

    fn build_array(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Option<Op>> {
        Ok(Some(match head.name {
            "ndarray.subview" => Op::Subview(self.slice(head, dict, 1)?),
            "ndarray.extract_slice" => Op::ExtractSlice(self.slice(head, dict, 1)?),
            "ndarray.insert_slice" => Op::InsertSlice(self.slice(head, dict, 2)?),
            "ndarray.immutable_insert_slice" => {
                Op::ImmutableInsertSlice(self.slice(head, dict, 2)?)
            }
            "ndarray.reshape" => Op::Reshape { copy: self.flag(dict, "copy")? },
            "ndarray.cast_elemtype" => Op::CastElement { copy: self.flag(dict, "copy")? },
            "ndarray.permute_dims" => Op::Permute(self.need_numbers(head, dict, "axes")?),
            "ndarray.ewuny" => Op::Unary(self.named(head, dict)?),
            "ndarray.ewbin" => Op::Binary(self.named(head, dict)?),
            "ndarray.reduction" | "ndarray.reduce" => self.reduction(head, dict)?,
            "ndarray.stencil" => self.stencil(head, dict)?,
            "ndarray.map_blocks" => {
                let (function, at) = self.need(head, dict, "function")?;
                let Attribute::Symbol(function) = function else {
                    return Err(self.fault(at, "expected the name of a function (`@name`)"));
                };
                Op::MapBlocks { function, block: self.need_numbers(head, dict, "block")? }
            }
            "ndarray.halo" => Op::Halo {
                low: self.need_numbers(head, dict, "low")?,
                high: self.need_numbers(head, dict, "high")?,
            },
            _ => return Ok(None),
        }))
    }

    fn build_dist(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Option<Op>> {
        let half = head.results.len() / 2;
        let more = |least: usize| half > 0 && head.operands.len() > least;
        Ok(Some(match head.name {
            "dist.ewuny" => Op::DistUnary(self.named(head, dict)?),
            "dist.ewbin" => Op::DistBinary(self.named(head, dict)?),
            "dist.local_bounding_box" => Op::BoundingBox {
                inner: self.flag(dict, "inner")?.unwrap_or(false),
                previous: self.flag(dict, "previous")?.unwrap_or(more(5 * half)),
            },
            "dist.local_core" => Op::LocalCore {
                previous: self.flag(dict, "previous")?.unwrap_or(more(1 + 5 * half)),
            },
            "dist.repartition" => Op::Repartition {
                request: self.flag(dict, "request")?.unwrap_or(head.operands.len() > 1),
            },
            "dist.subview" => {
                let target = self.flag(dict, "target")?.unwrap_or(false);
                Op::DistSubview { slice: self.slice(head, dict, 1)?, target }
            }
            "distruntime.team_size" => Op::TeamSize(self.need(head, dict, "team")?.0),
            "distruntime.team_member" => Op::TeamMember(self.need(head, dict, "team")?.0),
            "distruntime.allreduce" => Op::AllReduce {
                reduction: self.named(head, dict)?,
                team: dict.take("team").map(|(team, _)| team),
            },
            "distruntime.get_halo" => Op::GetHalo {
                team: self.need(head, dict, "team")?.0,
                key: self.whole(dict, "key")?.unwrap_or(-1),
            },
            "distruntime.copy_reshape" => {
                Op::CopyReshape { team: self.need(head, dict, "team")?.0 }
            }
            "distruntime.copy_permute" => Op::CopyPermute {
                team: self.need(head, dict, "team")?.0,
                axes: self.need_numbers(head, dict, "axes")?,
            },
            _ => return Ok(None),
        }))
    }

    fn reduction(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Op> {
        let reduction: Named<Reduction> = self.named(head, dict)?;
        let correction = match dict.take("correction") {
            None => 0,
            Some((attribute, at)) => self.float(&attribute, at)?,
        };
        Ok(Op::Reduce {
            reduction,
            axes: self.numbers(dict, "axes")?,
            keepdims: self.flag(dict, "keepdims")?.unwrap_or(false),
            correction,
        })
    }

    fn stencil(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Op> {
        let (points, at) = self.need(head, dict, "points")?;
        let lists = self.items(&points, at)?;
        let points = lists
            .iter()
            .map(|list| self.whole_numbers(list, at))
            .collect::<Parsed<Vec<Vec<i64>>>>()?;
        let (weights, at) = self.need(head, dict, "weights")?;
        let weights = self.items(&weights, at)?;
        let weights =
            weights.iter().map(|weight| self.float(weight, at)).collect::<Parsed<Vec<u64>>>()?;
        let (boundary, at) = self.need_string(head, dict, "boundary")?;
        let boundary = match boundary.as_str() {
            "zero" => Boundary::Zero,
            "periodic" => Boundary::Periodic,
            other => {
                let message = format!("expected \"zero\" or \"periodic\", found {other:?}");
                return Err(self.fault(at, message));
            }
        };
        Ok(Op::Stencil { points, weights, boundary })
    }

    /// The slice of an operation with `extra` other operands; without lists all are values.
    fn slice(&self, head: &Head<'_>, dict: &mut Dict, extra: usize) -> Parsed<Slice> {
        let all = head.operands.len().saturating_sub(extra) / 3;
        let mut list = |name: &str| -> Parsed<Vec<Index>> {
            let Some((attribute, at)) = dict.take(name) else {
                return Ok(vec![Index::Operand; all]);
            };
            let numbers: Vec<i64> = self.whole_numbers(&attribute, at)?;
            let entry = |number: i64| match number {
                DYNAMIC => Index::Operand,
                known => Index::Known(known),
            };
            Ok(numbers.into_iter().map(entry).collect())
        };
        Ok(Slice {
            offsets: list("static_offsets")?,
            sizes: list("static_sizes")?,
            strides: list("static_strides")?,
        })
    }

    fn missing(&self, head: &Head<'_>, name: &str) -> super::reader::Stop {
        self.fault(head.at, format!("`{}` needs an attribute `{name}`", head.name))
    }

    fn need(&self, head: &Head<'_>, dict: &mut Dict, name: &str) -> Parsed<(Attribute, usize)> {
        dict.take(name).ok_or_else(|| self.missing(head, name))
    }

    fn need_string(&self, head: &Head<'_>, dict: &mut Dict, name: &str) -> Parsed<(String, usize)> {
        match self.need(head, dict, name)? {
            (Attribute::String(text), at) => Ok((text, at)),
            (_, at) => Err(self.fault(at, format!("expected `{name}` to be a string"))),
        }
    }

    fn named<F: Function>(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Named<F>> {
        let (attribute, at) = self.need(head, dict, "op")?;
        let (found, shown) = match &attribute {
            Attribute::Int(id, _) => {
                (i64::try_from(*id).ok().and_then(F::from_number), id.to_string())
            }
            Attribute::String(name) => (F::from_text(name), format!("{name:?}")),
            _ => (None, attribute.to_string()),
        };
        let by_id = matches!(attribute, Attribute::Int(..));
        let function =
            found.ok_or_else(|| self.fault(at, format!("there is no {} {shown}", F::WHAT)))?;
        Ok(Named { function, by_id })
    }

    fn flag(&self, dict: &mut Dict, name: &str) -> Parsed<Option<bool>> {
        match dict.take(name) {
            None => Ok(None),
            Some((Attribute::Bool(value), _)) => Ok(Some(value)),
            Some((Attribute::Unit, _)) => Ok(Some(true)),
            Some((_, at)) => Err(self.fault(at, format!("expected `{name}` to be true or false"))),
        }
    }

    fn whole<N: TryFrom<i128>>(&self, dict: &mut Dict, name: &str) -> Parsed<Option<N>> {
        dict.take(name).map(|(attribute, at)| self.whole_number(&attribute, at)).transpose()
    }

    fn whole_number<N: TryFrom<i128>>(&self, attribute: &Attribute, at: usize) -> Parsed<N> {
        let value = match attribute {
            Attribute::Int(value, _) => N::try_from(*value).ok(),
            _ => None,
        };
        value.ok_or_else(|| {
            self.fault(at, format!("expected a whole number that fits, found {attribute}"))
        })
    }

    fn items<'v>(&self, attribute: &'v Attribute, at: usize) -> Parsed<&'v [Attribute]> {
        match attribute {
            Attribute::List(items) => Ok(items),
            _ => Err(self.fault(at, format!("expected a list, found {attribute}"))),
        }
    }

    fn whole_numbers<N: TryFrom<i128>>(&self, attribute: &Attribute, at: usize) -> Parsed<Vec<N>> {
        self.items(attribute, at)?.iter().map(|item| self.whole_number(item, at)).collect()
    }

    fn numbers(&self, dict: &mut Dict, name: &str) -> Parsed<Option<Vec<usize>>> {
        dict.take(name).map(|(attribute, at)| self.whole_numbers(&attribute, at)).transpose()
    }

    fn need_numbers(&self, head: &Head<'_>, dict: &mut Dict, name: &str) -> Parsed<Vec<usize>> {
        self.numbers(dict, name)?.ok_or_else(|| self.missing(head, name))
    }

    /// The bits of an `f64`.
    pub(super) fn float(&self, attribute: &Attribute, at: usize) -> Parsed<u64> {
        match attribute {
            Attribute::Float(bits, _) => Ok(*bits),
            #[allow(
                clippy::cast_precision_loss,
                reason = "a whole number stands for the nearest float"
            )]
            Attribute::Int(value, _) => Ok((*value as f64).to_bits()),
            _ => Err(self.fault(at, format!("expected a number, found {attribute}"))),
        }
    }
}

/// Operations without attributes.
fn simple(name: &str) -> Option<Op> {
    if let Some(arith) = names::arith(name) {
        return Some(Op::Arith(arith));
    }
    Some(match name {
        "return" | "func.return" => Op::Return,
        "scf.for" => Op::For,
        "scf.while" => Op::While,
        "scf.condition" => Op::Condition,
        "scf.yield" => Op::Yield,
        "region.env_region_yield" => Op::RegionYield,
        "arith.select" => Op::SelectScalar,
        "arith.convert" | "arith.index_cast" | "arith.sitofp" | "arith.fptosi" | "arith.extf"
        | "arith.truncf" | "arith.extsi" | "arith.trunci" | "arith.extui" | "arith.uitofp"
        | "arith.index_castui" => Op::Convert,
        "ndarray.arange" => Op::Arange,
        "ndarray.broadcast" => Op::Broadcast,
        "ndarray.cast" => Op::Cast,
        "ndarray.copy" => Op::Copy,
        "ndarray.delete" => Op::Delete,
        "ndarray.dim" => Op::Dim,
        "ndarray.load" => Op::Load,
        "ndarray.from_memref" => Op::FromMemRef,
        "ndarray.to_tensor" => Op::ToTensor,
        "ndarray.where" => Op::Where,
        "ndarray.clip" => Op::Clip,
        "ndarray.matmul" => Op::MatMul,
        "ndarray.redistribute" => Op::Redistribute,
        "ndarray.replicate" => Op::Replicate,
        "dist.init_dist_array" => Op::InitDist,
        "dist.local_offsets_of" => Op::LocalOffsetsOf,
        "dist.parts_of" => Op::PartsOf,
        "dist.default_partition" => Op::DefaultPartition,
        "dist.local_target_of_slice" => Op::LocalTarget,
        "distruntime.wait" => Op::Wait,
        _ => return None,
    })
}
