//! Plain data between members: broadcast, all-gather, all-reduce.

use pantile_geometry::teams::TeamError;
use pantile_spmd::{Error, Operator, Partition, RankContext, Tensor};
use pantile_testkit::model;

use crate::expect::{Outcome, refused, same, say, team, tensor_is, usable};
use crate::reference::Reference;
use crate::{Case, every_type};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "data of one member", needs: 1, body: broadcasts },
        Case { name: "data of one member of twelve", needs: 12, body: broadcasts_of_12 },
        Case { name: "data of all members", needs: 1, body: gathers },
        Case { name: "data combined, every type and operator", needs: 1, body: combines },
        Case { name: "data that does not fit", needs: 2, body: misfits },
    ]
}

/// Teams of a world: all, all backwards, all but the first backwards.
fn teams(world: &RankContext) -> Result<Vec<Partition>, String> {
    let all: Vec<usize> = (0..world.size()).collect();
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let mut teams = vec![world.partition(), team(world, &backwards)?];
    if world.size() > 1 {
        teams.push(team(world, &backwards[..world.size() - 1])?);
    }
    Ok(teams)
}

fn broadcasts(world: &RankContext) -> Outcome {
    for team in teams(world)? {
        let members = team.members();
        for root in [0, members.len() - 1] {
            // What the others give is not looked at, whatever its shape.
            let rank = i64::try_from(world.rank()).unwrap_or(0);
            let mine = Tensor::full(&[2, 1, 1 + world.rank()], rank);
            let got = team.broadcast_data(Some(&mine), root).map_err(say)?;
            let wanted = Tensor::full(&[2, 1, 1 + members[root]], members[root] as i64);
            same(format!("root {root} of {team:?}"), &got, &team.active().then_some(wanted))?;
            let scalar = Tensor::full(&[], 7.0);
            let mine = (team.rank() == Some(root)).then_some(&scalar);
            let got = team.broadcast_data(mine, root).map_err(say)?;
            let wanted = team.active().then(|| Tensor::full(&[1], 7.0));
            same(format!("a scalar of root {root} of {team:?}"), &got, &wanted)?;
            let nothing = Tensor::<u8>::zeros(&[0, 3]);
            let got = team.broadcast_data(Some(&nothing), root).map_err(say)?;
            same(
                "nothing",
                &got.map(|got| got.shape().to_vec()),
                &team.active().then_some(vec![0, 3]),
            )?;
        }
        let holders = team.create_partition_inclusive(&[members.len() - 1]).map_err(say)?;
        let mine = Tensor::full(&[1], world.rank() as u64);
        let got = team.broadcast_data_of(Some(&mine), 0, &holders).map_err(say)?;
        let wanted = Tensor::full(&[1], members[members.len() - 1] as u64);
        same(format!("the only holder in {team:?}"), &got, &team.active().then_some(wanted))?;
    }
    Ok(())
}

fn broadcasts_of_12(world: &RankContext) -> Outcome {
    let twelve = team(world, &(0..12).collect::<Vec<_>>())?;
    let table = Tensor::from_vec(&[2, 3], vec![1_i64, -2, 3, -4, 5, -6]).map_err(say)?;
    let mine = (world.rank() == 3).then_some(&table);
    let got = twelve.broadcast_data(mine, 3).map_err(say)?;
    same("root 3 of 12", &got, &twelve.active().then(|| table.clone()))?;
    let holders = team(world, &[7, 5])?;
    let mine = holders.rank().map(|rank| Tensor::full(&[4], 0.5 + rank as f64));
    let got = twelve.broadcast_data_of(mine.as_ref(), 1, &holders).map_err(say)?;
    same("rank 1 of [7, 5]", &got, &twelve.active().then(|| Tensor::full(&[4], 1.5)))?;
    // A holder that the team does not have.
    if world.size() > 12 {
        let outside = team(world, &[12, 0])?;
        let wrong = |error: &Error| matches!(error, Error::Team(TeamError::RankOutOfRange { .. }));
        let got = twelve.broadcast_data_of(mine.as_ref(), 0, &outside);
        refused("a holder outside", got, wrong)?;
        let got = twelve.broadcast_data_of(Some(&table), 1, &outside).map_err(say)?;
        let got = got.map(|got| got.shape().to_vec());
        same("the holder inside", &got, &twelve.active().then_some(vec![2, 3]))?;
    }
    usable(world)
}

fn gathers(world: &RankContext) -> Outcome {
    for team in teams(world)? {
        let row = |rank: usize| [rank as f32, -0.5 * rank as f32, 1.0];
        let got = team.allgather_data(&row(world.rank())).map_err(say)?;
        let members = team.members();
        match got {
            None => same("outside", &team.active(), &false)?,
            Some(got) => {
                let rows: Vec<f32> = members.iter().flat_map(|rank| row(*rank)).collect();
                tensor_is(format!("rows of {team:?}"), &got, &[members.len(), 3], &rows)?;
            }
        }
        let got = team.allgather_data::<bool>(&[]).map_err(say)?;
        let shape = got.map(|got| got.shape().to_vec());
        same("rows of nothing", &shape, &team.active().then(|| vec![members.len(), 0]))?;
    }
    Ok(())
}

fn combines(world: &RankContext) -> Outcome {
    for (name, result) in every_type!(combines_of(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    usable(world)
}

fn combines_of<T: Reference>(world: &RankContext) -> Outcome {
    // In a large world one team is enough: not all, and backwards.
    let least = if world.size() > 7 { 2 } else { 0 };
    for team in teams(world)?.split_off(least) {
        for (operator, meaning) in Operator::ALL.into_iter().zip(model::Operator::ALL) {
            let element = |rank: usize, at: usize| {
                let mixed = (rank * 7919 + at * 104_729) % 1_999;
                T::from_number(i64::try_from(mixed).unwrap_or(0) - 900)
            };
            let mine = Tensor::from_fn(&[2, 3], |at| element(world.rank(), 3 * at[0] + at[1]));
            let got = team.allreduce_data(&mine, operator);
            let what = format!("{operator} over {team:?}");
            if T::identity(meaning).is_none() {
                // Said to those outside too, and to a team of one, which combines nothing.
                refused(what, got, |error| matches!(error, Error::Engine(_)))?;
                continue;
            }
            let Some(got) = got.map_err(say)? else {
                same(what, &team.active(), &false)?;
                continue;
            };
            // In the order of the world's ranks, whatever the order of the team.
            let mut members = team.members();
            members.sort_unstable();
            same(format!("{what}: the shape"), got.shape(), &[2, 3])?;
            for (at, got) in got.as_slice().iter().enumerate() {
                let terms = members.iter().map(|rank| element(*rank, at));
                let wanted =
                    terms.reduce(|one, other| T::combine(meaning, one, other).unwrap_or(one));
                let bits = (got.bits(), wanted.map_or(0, T::bits));
                if bits.0 != bits.1 {
                    return Err(format!("{what}, element {at}: expected {wanted:?}, got {got:?}"));
                }
            }
        }
    }
    Ok(())
}

fn misfits(world: &RankContext) -> Outcome {
    let unequal = |error: &Error| matches!(error, Error::Unequal { .. });
    for team in teams(world)? {
        let wrong = |error: &Error| matches!(error, Error::Team(TeamError::RankOutOfRange { .. }));
        let one = Tensor::full(&[1], 1_i32);
        let got = team.broadcast_data(Some(&one), team.members().len());
        refused("a root that is not there", got, wrong)?;
        if !team.active() {
            continue;
        }
        let silent = |error: &Error| matches!(error, Error::Inactive { .. });
        let mine = (team.rank() != Some(0)).then_some(&one);
        refused("a root that gives nothing", team.broadcast_data(mine, 0), silent)?;
        if team.members().len() < 2 {
            continue;
        }
        let last = team.rank() == Some(team.members().len() - 1);
        let mine = vec![1_u16; if last { 3 } else { 2 }];
        refused("rows of unequal length", team.allgather_data(&mine), unequal)?;
        let mine = Tensor::full(if last { &[3, 2] } else { &[2, 3] }, 1_u16);
        refused("unequal shapes", team.allreduce_data(&mine, Operator::Sum), unequal)?;
        let got = match last {
            true => team.allgather_data(&[1.0_f32]).map(|_| ()),
            false => team.allgather_data(&[1.0_f64]).map(|_| ()),
        };
        refused("unequal types", got, unequal)?;
    }
    usable(world)
}
