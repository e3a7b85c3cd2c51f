//! Plans: the difference of two distributions, or a path of them.

use std::collections::BTreeMap;

use pantile_geometry::{Distribution, Fingerprint, Operator, Rank};

use crate::between;
use crate::{Error, Transfer};

/// A movement as data: a path of steps, each between two distributions.
///
/// ```
/// use pantile_plan::Plan;
/// use pantile_geometry::Distribution;
/// let blocks: Distribution = "8 on r=4: block(r)".parse()?;
/// let halos: Distribution = "8 on r=4: block(r) halo 1".parse()?;
/// let exchange = Plan::between(&blocks, &halos)?;
/// assert_eq!(exchange.moved(), 6);
/// assert_eq!(exchange.adjoint()?, Plan::between(&halos.dual()?, &blocks.dual()?)?);
/// # Ok::<(), pantile_plan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Plan {
    steps: Vec<Step>,
}

/// One step of a plan: all transfers between two distributions, in one or several rounds.
///
/// Target cells that receive nothing are set to the identity of the operator; terms of a cell
/// are combined in ascending source (rank, lifts), the sender's own included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Where the elements are before.
    pub source: Distribution,
    /// Where they are after.
    pub target: Distribution,
    /// How terms are combined.
    pub operator: Operator,
    /// Transfers that may happen at the same time; rounds happen one after the other.
    pub rounds: Vec<Round>,
    /// True if halo elements that lie beyond two or more sides of a tile are left out.
    pub faces_only: bool,
}

/// Transfers that happen at the same time, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Round {
    /// Who gives what to whom.
    pub transfers: Vec<Transfer>,
}

impl Plan {
    /// The movement from `source` to `target` in one step.
    ///
    /// # Errors
    /// The shapes, operators or labels differ, one side has a gap that the other needs filled,
    /// or boxes are where they cannot be.
    pub fn between(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        let transfers = between::transfers(source, target)?;
        let operator = between::operator(source, target)?;
        let rounds = vec![Round { transfers }];
        let (source, target) = (source.clone(), target.clone());
        Ok(Self { steps: vec![Step { source, target, operator, rounds, faces_only: false }] })
    }

    /// The movement along a path of distributions, one step per pair of neighbours.
    ///
    /// # Errors
    /// The path has fewer than two distributions, or there is no movement between two of them.
    pub fn via(path: &[Distribution]) -> Result<Self, Error> {
        if path.len() < 2 {
            return Err(Error::ShortPath { got: path.len() });
        }
        let mut steps = Vec::new();
        for pair in path.windows(2) {
            steps.extend(Self::between(&pair[0], &pair[1])?.steps);
        }
        Ok(Self { steps })
    }

    /// The plan made of these steps.
    pub fn from_steps(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The adjoint movement: every arrow turned around, steps and rounds in reverse order.
    ///
    /// # Errors
    /// Some distribution has terms of another operator than sum.
    pub fn adjoint(&self) -> Result<Self, Error> {
        let steps = self.steps.iter().rev().map(Step::adjoint).collect::<Result<_, _>>()?;
        Ok(Self { steps })
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// All transfers of all steps.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.steps.iter().flat_map(Step::transfers)
    }

    /// Number of elements that change rank, over all steps.
    #[must_use]
    pub fn moved(&self) -> usize {
        self.transfers().filter(|transfer| transfer.travels()).map(Transfer::size).sum()
    }

    /// Number of messages: ordered pairs of different ranks, per round.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.steps.iter().flat_map(|step| &step.rounds).map(Round::messages).sum()
    }

    /// Elements given from rank to rank, the rank's own included, over all steps.
    #[must_use]
    pub fn matrix(&self) -> BTreeMap<(Rank, Rank), usize> {
        let mut matrix = BTreeMap::new();
        for transfer in self.transfers() {
            *matrix.entry((transfer.from, transfer.to)).or_insert(0) += transfer.size();
        }
        matrix
    }

    /// A hash of the plan: equal on every rank, and for equal plans.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut text = String::new();
        for step in &self.steps {
            let (source, target) = (step.source.fingerprint(), step.target.fingerprint());
            text += &format!("{source} {target} {} {};", step.operator, step.faces_only);
            for round in &step.rounds {
                let transfers = round.transfers.iter().map(Transfer::to_string);
                text += &transfers.collect::<Vec<_>>().join(";");
                text.push('|');
            }
        }
        Fingerprint::of(&text)
    }
}

impl Step {
    /// All transfers of all rounds.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.rounds.iter().flat_map(|round| &round.transfers)
    }

    fn adjoint(&self) -> Result<Self, Error> {
        let rounds = self.rounds.iter().rev().map(Round::reversed).collect();
        let (source, target) = (self.target.dual()?, self.source.dual()?);
        let operator = between::operator(&source, &target)?;
        Ok(Self { source, target, operator, rounds, faces_only: self.faces_only })
    }
}

impl Round {
    fn reversed(&self) -> Self {
        let mut transfers: Vec<Transfer> = self.transfers.iter().map(Transfer::reversed).collect();
        transfers.sort_unstable();
        Self { transfers }
    }

    /// Number of ordered pairs of different ranks.
    #[must_use]
    pub fn messages(&self) -> usize {
        let travelling = self.transfers.iter().filter(|transfer| transfer.travels());
        let mut pairs: Vec<(Rank, Rank)> = travelling.map(|t| (t.from, t.to)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len()
    }
}
