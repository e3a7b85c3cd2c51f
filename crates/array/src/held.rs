//! What ranks hold of an array where they hold more than they own: tiles with their halos.

use std::sync::Arc;

use pantile_comm::CollectiveSignature;
use pantile_engine::{Error, Job, Tile};
use pantile_geometry::{Distribution, Fingerprint, Rank};
use pantile_ir::Place;
use pantile_lower::CompileUnit;
use smallvec::smallvec;

use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::lock;
use super::{Array, Session, here};

impl Array {
    /// The memory of every rank that this process hosts, as `target` lays it out: all that a rank
    /// holds there, halos included, moved in one exchange. Computes the array. The array itself
    /// stays where it is.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0, 6, 1);
    /// let halos: Distribution = "6 on r=2: block(r) periodic halo 1".parse().unwrap();
    /// let held = a.held(&halos)?;
    /// assert_eq!(held[0].1.as_slice::<i64>(), [5, 0, 1, 2, 3]);
    /// assert_eq!(held[1].1.as_slice::<i64>(), [2, 3, 4, 5, 0]);
    /// # Ok::<(), Fault>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::compute`]; also if `target` is of another shape, has terms, lies on ranks that
    /// do not exist, or if this would move something where nothing may.
    #[track_caller]
    pub fn held(&self, target: &Distribution) -> Result<Vec<(Rank, Arc<Tile>)>, Fault> {
        let place = here();
        self.world.check_target(&self.shape(), target, &place)?;
        let node = self.node(&place);
        self.world.evaluate(&[Arc::clone(&node)], &place)?;
        self.world.check_process()?;
        let _turn = lock(&self.world.inner.evaluation_lock);
        self.world.settle()?;
        // Others may have written since; or its memory was never a tile.
        self.world.stage(&node);
        let (id, home) = match lock(&node.stored).as_ref() {
            Some(stored) => (stored.id, Arc::clone(&stored.home)),
            None => return Err(Fault::new(FaultKind::NotComputed, place)),
        };
        let words = format!("{} {} {}", home.room, target, self.dtype());
        let key = Fingerprint::of(&words).0;
        let needed = home.room.mesh().ranks_needed().max(target.mesh().ranks_needed());
        let unit = CompileUnit::Move {
            ranks: self.world.ranks().max(needed),
            dtype: self.dtype(),
            source: Box::new(home.room.clone()),
            target: Box::new(target.clone()),
        };
        self.world.run_move(unit, (key, id), &place)
    }
}

impl Session {
    fn check_target(
        &self,
        shape: &[usize],
        target: &Distribution,
        place: &Place,
    ) -> Result<(), Fault> {
        let wrong = |kind: FaultKind| Err(Fault::new(kind, place.clone()));
        if target.shape() != shape {
            let (got, shape) = (target.shape().to_vec(), shape.to_vec());
            return wrong(FaultKind::TargetShape { got, shape });
        }
        if target.has_terms() || target.axes().is_none() {
            return wrong(FaultKind::TargetParts { target: Box::new(target.clone()) });
        }
        self.make_ranks(target.mesh().ranks_needed()).map_err(|fault| fault.at(place.clone()))
    }

    /// Runs a program that moves one array; gives the tiles of its result, which is then forgotten.
    fn run_move(
        &self,
        unit: CompileUnit,
        (key, argument): (u128, pantile_engine::ArrayId),
        place: &Place,
    ) -> Result<Vec<(Rank, Arc<Tile>)>, Fault> {
        let executable = unit.compile()?;
        self.check_no_comm(&executable).map_err(|fault| fault.at(place.clone()))?;
        let mut executor = lock(&self.inner.executor);
        if self.inner.is_spread {
            #[allow(clippy::cast_possible_truncation, reason = "half of the key tells them apart")]
            let fingerprint = key as u64;
            let (file, line) = (place.file.to_string().into(), place.line);
            let call =
                CollectiveSignature { name: "exchange of halos".into(), fingerprint, file, line };
            executor.agree(&call, &mut [])?;
        }
        let id = self.inner.new_id();
        let hosted = self.hosted_among(executable.ranks);
        let job = Arc::new(Job {
            executable: Arc::new(executable),
            unit: Arc::new(unit),
            key,
            parameters: Vec::new(),
            arguments: smallvec![argument],
            results: smallvec![id],
            forget: self.inner.deferred_frees.take(),
            inline: false,
        });
        let ran = executor.run(&job);
        let tiles = match ran {
            Ok(()) => executor.get(id, &hosted),
            Err(_) => Ok(Vec::new()),
        };
        // There is no other reference; a caller that stopped waiting leaves it to the next program, too.
        if matches!(ran, Ok(()) | Err(Error::Interrupted)) {
            self.inner.deferred_frees.defer(id);
        }
        ran?;
        Ok(tiles?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_testkit::{Rng, cases};

    /// An axis in blocks with any halos, or dealt out.
    fn axis(rng: &mut Rng, length: usize) -> String {
        let halo = |rng: &mut Rng| format!("halo {} {}", rng.below(4), rng.below(4));
        match rng.below(5) {
            0 => "cyclic(r, 2)".to_owned(),
            1 if length > 0 => format!("block(r) periodic {}", halo(rng)),
            2 => format!("block(r, last) {}", halo(rng)),
            _ => format!("block(r) {}", halo(rng)),
        }
    }

    #[test]
    fn every_place_has_the_element_that_belongs_there() {
        cases("held", 60, |rng| {
            let ranks = 1 + rng.below(5);
            let shape = [rng.below(8), 1 + rng.below(4)];
            let world = Session::threads(ranks).unwrap();
            let number = |index: &[usize]| (index[0] * 10 + index[1]) as i64;
            let array = world.dist("block(r), whole").from_fn(&shape, number);
            let text = format!("{}x{} on r={ranks}: {}, whole", shape[0], shape[1], {
                axis(rng, shape[0])
            });
            let target: Distribution = text.parse().unwrap();
            for (rank, tile) in array.held(&target).unwrap() {
                let local = target.local_shape(rank).unwrap();
                let mut expected = Vec::new();
                for (row, column) in
                    (0..local[0]).flat_map(|row| (0..local[1]).map(move |column| (row, column)))
                {
                    expected.push(number(&target.global(rank, &[row, column]).unwrap().0));
                }
                assert_eq!(tile.as_slice::<i64>(), expected, "{text}, rank {rank}");
            }
            // The array is where it was.
            assert_eq!(array.sections().unwrap().len(), ranks);
        });
    }

    #[test]
    fn what_cannot_be_held_is_a_fault() {
        let world = Session::threads(2).unwrap();
        let array = world.dist("block(r)").arange(0, 6, 1);
        let check = |text: &str, words: &str| {
            let fault = array.held(&text.parse().unwrap()).unwrap_err();
            assert!(fault.kind.to_string().contains(words), "{fault}");
        };
        check("7 on r=2: block(r)", "shape [7]");
        check("6 on r=2: whole; sum(r)", "terms or boxes");
        check("6 on r=2: boxes [0:3] [3:6]", "terms or boxes");
        check("6 on r=4097: block(r)", "rank 4096");
        world.forbid_movement(true);
        check("6 on r=2: block(r) halo 1", "nothing may move here");
        world.forbid_movement(false);
        assert_eq!(array.held(&"6 on r=2: block(r) halo 1".parse().unwrap()).unwrap().len(), 2);
    }

    #[test]
    fn lists_stay_in_their_order_and_teams_may_cut_an_axis_together() {
        let world = Session::threads(4).unwrap();
        for text in [
            "r=2: indexed(r, [5 0 3] [1 2 4])",
            "x=2, y=2 team [3 1 2 0]: block(x*y)",
            "x=2, y=2: block(y*x, ceil)",
        ] {
            let array = world.dist(text).from_fn(&[6], |index| index[0] as i64);
            assert_eq!(array.home().unwrap(), format!("6 on {text}"));
            assert_eq!(array.to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5]);
            assert_eq!((&array + &array).sum().item::<i64>().unwrap(), 30);
        }
        let listed = world.dist("r=2: indexed(r, [5 0 3] [1 2 4])").arange(0, 6, 1);
        let first = listed.sections().unwrap().remove(0);
        assert_eq!(first.tile.as_slice::<i64>()[..3], [5, 0, 3]);
    }
}
