//! Programs as text, called with arrays.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_engine::{ArrayId, ArrayIds, Job};
use pantile_geometry::Fingerprint;
use pantile_ir::{Env, Placement, Program, Type};
use pantile_lower::{CompileUnit, Lent, Setting, home_of};

use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::graph::Keys;
use super::node::{Node, Stored, lock};
use super::{Array, Operand, Session, here};

impl Session {
    /// Runs a program on arrays and numbers, where they are; its results stay with the ranks.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let text = "func.func @twice(%a: !ndarray.ndarray<?xf64>) -> !ndarray.ndarray<?xf64> {
    ///   %b = ndarray.ewbin %a, %a {op = \"add\"} : (!ndarray.ndarray<?xf64>, !ndarray.ndarray<?xf64>) -> !ndarray.ndarray<?xf64>
    ///   return %b : !ndarray.ndarray<?xf64>
    /// }";
    /// let program = pantile_ir::text::parse(text, "twice").unwrap();
    /// let world = Session::threads(2)?;
    /// let a = world.dist("block(r)").from_vec(&[3], &[1.0, 2.0, 3.0]);
    /// let results = world.call(&program, &[(&a).into()])?;
    /// assert_eq!(results[0].to_vec::<f64>()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Fault>(())
    /// ```
    ///
    /// # Errors
    /// The program is wrong, or not for these arguments; what a rank said.
    #[track_caller]
    pub fn call(&self, program: &Program, arguments: &[Operand]) -> Result<Vec<Array>, Fault> {
        let place = here();
        let wrong = |kind: FaultKind| Fault::new(kind, place.clone());
        pantile_ir::verify::verify(program)
            .map_err(|findings| wrong(FaultKind::Program(findings)))?;
        let entry = program.entry().ok_or_else(|| wrong(FaultKind::NoFunction))?;
        let types: Vec<&Type> = entry.body.arguments.iter().map(|one| entry.ty(*one)).collect();
        if types.len() != arguments.len() {
            let (name, takes, got) = (entry.name.clone(), types.len(), arguments.len());
            return Err(wrong(FaultKind::Arguments { name, takes, got }));
        }
        // Numbers are everywhere, so for which ranks the program is must be known first.
        let ranks = arguments.iter().map(|argument| match argument {
            Operand::Array(array) => lock(&array.base).ranks(),
            Operand::Number(_) => 0,
        });
        let ranks = ranks.max().unwrap_or(0);
        let (mut nodes, mut given, mut lent) = (Vec::new(), Vec::new(), Vec::new());
        for (ty, argument) in types.into_iter().zip(arguments) {
            let (node, given_type, home) = self.argument(ty, argument, ranks)?;
            nodes.push(node);
            given.push(given_type);
            lent.push(Lent { home, spent: false });
        }
        let setting =
            Setting { arguments: Some(given), lent: Some(lent), ..self.setting_for(ranks) };
        let unit = CompileUnit::Program(Arc::new(program.clone()), Box::new(setting));
        self.check_process()?;
        let _turn = lock(&self.inner.evaluation_lock);
        self.settle()?;
        self.run_recipe(unit, &nodes, &place)
    }

    /// A stored node for an argument, its real type, and how it lies.
    fn argument(
        &self,
        ty: &Type,
        argument: &Operand,
        ranks: usize,
    ) -> Result<(Arc<Node>, Type, pantile_geometry::Distribution), Fault> {
        let place = here();
        let scalar = !matches!(ty, Type::Array(_));
        let dtype = ty.dtype().unwrap_or(pantile_engine::DType::I64);
        let array = match argument {
            Operand::Array(array) => array.clone(),
            Operand::Number(number) => number.array(&self.dist("copies"), dtype, &place),
        };
        let array = match scalar {
            true => array.cast(dtype).replicate_on(ranks),
            false => array,
        };
        let node = array.node(&place);
        self.evaluate(&[Arc::clone(&node)], &place)?;
        self.stage(&node);
        let stored = lock(&node.stored);
        let Some(stored) = stored.as_ref() else {
            return Err(Fault::new(FaultKind::EmptyArgument, place));
        };
        if scalar {
            let home = home_of(ty, &self.setting_for(ranks))?;
            return Ok((Arc::clone(&node), ty.clone(), home));
        }
        let at = Placement::At(Arc::clone(&stored.home.plain));
        let Type::Array(own) = Type::array(&node.shape(), array.dtype()) else {
            return Err(Fault::new(FaultKind::NoArray, place));
        };
        let own = Type::Array(own.placed(Some(Env::Placement(at))));
        Ok((Arc::clone(&node), own, stored.home.room.clone()))
    }

    fn run_recipe(
        &self,
        unit: CompileUnit,
        nodes: &[Arc<Node>],
        place: &super::Place,
    ) -> Result<Vec<Array>, Fault> {
        let key = Fingerprint::of(&unit.to_string()).0;
        let found = lock(&self.inner.compile_cache).find(Keys { whole: key, open: key });
        let cached = match found {
            Some((_, cached)) => cached,
            None => {
                let cached = self.made_of(unit, false)?;
                self.inner.lowered.fetch_add(1, Ordering::Relaxed);
                lock(&self.inner.compile_cache).enter(key, cached)
            }
        };
        self.check_memory(&cached, place)?;
        self.check_no_comm(&cached.executable)?;
        let results: ArrayIds = cached.homes.iter().map(|_| self.inner.new_id()).collect();
        let id = |node: &Arc<Node>| lock(&node.stored).as_ref().map_or(ArrayId(0), |one| one.id);
        let job = Arc::new(Job {
            key,
            executable: Arc::clone(&cached.executable),
            unit: Arc::clone(&cached.unit),
            parameters: Vec::new(),
            arguments: nodes.iter().map(id).collect(),
            results: results.clone(),
            forget: self.inner.deferred_frees.take(),
            inline: cached.inline,
        });
        lock(&self.inner.executor).run(&job)?;
        let slots = cached.executable.results.iter();
        let dtypes = slots.map(|(slot, _)| cached.executable.slots[slot.index()].dtype);
        let made = results.into_iter().zip(&cached.homes).zip(dtypes);
        Ok(made
            .map(|((id, home), dtype)| {
                let ty = Type::array(home.plain.shape(), dtype);
                let (deferred_frees, home) =
                    (Arc::clone(&self.inner.deferred_frees), Arc::clone(home));
                let stored = Stored { id, home, tiles: None, deferred_frees };
                Array::of(self, Node::kept(ty, place.clone(), stored))
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
func.func @scaled(%a: !ndarray.ndarray<?x4xf64>, %f: f64, %n: index) -> (!ndarray.ndarray<?x4xf64>, !ndarray.ndarray<f64>) {
  %b = ndarray.ewbin %a, %f {op = \"mul\"} : (!ndarray.ndarray<?x4xf64>, f64) -> !ndarray.ndarray<?x4xf64>
  %s = ndarray.reduction %b {op = 4 : i32} : !ndarray.ndarray<?x4xf64> -> !ndarray.ndarray<f64>
  return %b, %s : !ndarray.ndarray<?x4xf64>, !ndarray.ndarray<f64>
}
";

    #[test]
    fn programs_take_arrays_and_numbers_and_leave_results_with_the_ranks() {
        let program = pantile_ir::text::parse(TEXT, "test").unwrap();
        for ranks in [1, 2, 3, 7] {
            let world = Session::threads(ranks).unwrap();
            let a = world.dist("block(r), whole").from_fn(&[5, 4], |at| (at[0] * 4 + at[1]) as f64);
            for turn in 1..4 {
                let results =
                    world.call(&program, &[(&a).into(), f64::from(turn).into(), 3.into()]).unwrap();
                let expected: Vec<f64> = (0..20).map(|n| f64::from(n * turn)).collect();
                assert_eq!(results[0].to_vec::<f64>().unwrap(), expected);
                assert_eq!(results[1].item::<f64>().unwrap(), f64::from(190 * turn));
                assert_eq!(
                    (&results[0] + 1.0).sum().item::<f64>().unwrap(),
                    f64::from(190 * turn + 20)
                );
            }
        }
    }

    #[test]
    fn wrong_arguments_are_faults() {
        let program = pantile_ir::text::parse(TEXT, "test").unwrap();
        let world = Session::threads(2).unwrap();
        let fault = world.call(&program, &[1.0.into()]).unwrap_err();
        let name = "scaled".to_owned();
        assert_eq!(*fault.kind, FaultKind::Arguments { name, takes: 3, got: 1 });
        assert_eq!(fault.kind.to_string(), "@scaled takes 3 arguments, got 1");
        let a = world.zeros(&[5, 3]);
        let fault = world.call(&program, &[(&a).into(), 1.0.into(), 1.into()]).unwrap_err();
        assert!(fault.to_string().contains("argument 0"), "{fault}");
    }
}
