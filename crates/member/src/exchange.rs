//! Every member gets the box of an array that it asks for, from the members that own its rows.
//!
//! Members tell each other once what they own and what they ask for; from then on all of them know
//! the same, so that a request that cannot be met is refused on all members.

use std::ops::Range;

use pantile_comm::{CollectiveSignature, MemorySlice};
use pantile_engine::{Engine, Tile};
use pantile_geometry::slices::{Delivery, halo_plan};

use crate::error::OperationFault;
use crate::local::LocalArray;
use crate::machine::MemberTeam;

/// A box: a range of indices for each axis.
pub(crate) type IndexBox = Vec<Range<usize>>;

/// What a member owns, and what it asks for.
struct Request {
    owned: IndexBox,
    wanted: IndexBox,
}

/// Lists of numbers from all members, in the order of the team. Collective.
pub(crate) fn told(
    engine: &mut Engine,
    team: &MemberTeam,
    (name, own): (&'static str, &[usize]),
) -> Result<Vec<Vec<usize>>, OperationFault> {
    let record: Vec<u8> = own.iter().flat_map(|number| (*number as u64).to_le_bytes()).collect();
    let call = CollectiveSignature::here(name, 1);
    let numbers = |record: &Vec<u8>| -> Vec<usize> {
        let number = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
        let count = |bytes: &[u8]| usize::try_from(number(bytes)).unwrap_or(usize::MAX);
        record.chunks(8).map(count).collect()
    };
    Ok(engine.gather(&call, &team.ranks, &record)?.iter().map(numbers).collect())
}

/// The box `wanted`; `array` has the elements of the box `owned`. Collective in the team.
pub(crate) fn fetched(
    engine: &mut Engine,
    team: &MemberTeam,
    (array, owned): (&LocalArray, &[Range<usize>]),
    wanted: &[Range<usize>],
) -> Result<LocalArray, OperationFault> {
    let me = team.member()?;
    let expected: Vec<usize> = owned.iter().map(ExactSizeIterator::len).collect();
    // Where a member has no rows, nothing is said about the columns.
    if array.shape() != expected && expected.first() != Some(&0) {
        return Err(OperationFault::Shapes { got: array.shape().to_vec(), expected });
    }
    let mut record = vec![usize::from(array.dtype().code()), owned.len()];
    record.extend(owned.iter().chain(wanted).flat_map(|range| [range.start, range.end]));
    let all = told(engine, team, ("member exchange", &record))?;
    let requests = read(&all)?;
    let plan = planned(&requests)?;
    let shape: Vec<usize> = wanted.iter().map(ExactSizeIterator::len).collect();
    let made = LocalArray::zeroed(&shape, array.dtype())?;
    let own = overlap(&owned[0], &wanted[0]);
    if !own.is_empty() && !wanted.iter().any(Range::is_empty) {
        let from = array.part(&inside(&own, wanted, owned))?;
        made.rows(relative(&own, &wanted[0]))?.write(&from)?;
    }
    travel(engine, (team, me), (array, &made), (&requests, &plan))?;
    Ok(made)
}

/// What members say, if all of them speak of arrays of the same type.
fn read(all: &[Vec<usize>]) -> Result<Vec<Request>, OperationFault> {
    let mut requests = Vec::new();
    for (member, record) in all.iter().enumerate() {
        let ndim = record.get(1).copied().unwrap_or(0);
        let alike = record.get(..2) == all[0].get(..2) && record.len() == 2 + 4 * ndim;
        if !alike || ndim == 0 {
            return Err(OperationFault::Unlike { member });
        }
        let mut ranges: IndexBox = record[2..].chunks(2).map(|pair| pair[0]..pair[1]).collect();
        let wanted = ranges.split_off(ndim);
        requests.push(Request { owned: ranges, wanted });
    }
    Ok(requests)
}

/// Who sends which rows; refused on all members if some member cannot get what it asks for.
fn planned(requests: &[Request]) -> Result<Vec<Delivery>, OperationFault> {
    let rows = |of: fn(&Request) -> &IndexBox| -> Vec<Range<usize>> {
        requests.iter().map(|one| of(one)[0].clone()).collect()
    };
    let plan = halo_plan(&rows(|one| &one.owned), &rows(|one| &one.wanted))?;
    for (member, request) in requests.iter().enumerate() {
        // Where no element is asked for, it does not matter who owns it.
        if request.wanted.iter().any(Range::is_empty) {
            continue;
        }
        let mut own = overlap(&request.owned[0], &request.wanted[0]).len();
        let givers = plan.iter().filter(|one| one.target == member);
        own += givers.clone().map(|one| one.rows.len()).sum::<usize>();
        if own != request.wanted[0].len() {
            let rows = (request.wanted[0].start, request.wanted[0].end);
            return Err(OperationFault::NotOwned { member, rows, owned: own });
        }
        let mine = (!overlap(&request.owned[0], &request.wanted[0]).is_empty()).then_some(member);
        for owner in givers.map(|one| one.source).chain(mine) {
            let stored = &requests[owner].owned;
            let lacks = |axis: &usize| {
                let (stored, wanted) = (&stored[*axis], &request.wanted[*axis]);
                wanted.start < stored.start || wanted.end > stored.end
            };
            if let Some(axis) = (1..stored.len()).find(lacks) {
                return Err(OperationFault::Columns { member, owner, axis });
            }
        }
    }
    Ok(plan)
}

/// Sends what others ask for, and takes what they send.
fn travel(
    engine: &mut Engine,
    (team, me): (&MemberTeam, usize),
    (array, made): (&LocalArray, &LocalArray),
    (requests, plan): (&[Request], &[Delivery]),
) -> Result<(), OperationFault> {
    let mine = &requests[me];
    let some = |one: &&Delivery| !requests[one.target].wanted.iter().any(Range::is_empty);
    let mut bodies = Vec::new();
    for one in plan.iter().filter(some).filter(|one| one.source == me) {
        let part = array.part(&inside(&one.rows, &requests[one.target].wanted, &mine.owned))?;
        let body = MemorySlice::copied_from(part.tile().as_bytes());
        bodies.push((team.ranks[one.target], body));
    }
    let givers: Vec<&Delivery> = plan.iter().filter(some).filter(|one| one.target == me).collect();
    let call = CollectiveSignature::here("member exchange", 2);
    let come = engine.communicator().operation(&call, |operation| {
        for (rank, body) in &bodies {
            operation.send(*rank, body)?;
        }
        givers
            .iter()
            .map(|one| operation.receive_any(team.ranks[one.source]))
            .collect::<Result<Vec<_>, _>>()
    });
    for (one, bytes) in givers.into_iter().zip(come.map_err(pantile_engine::Error::from)?) {
        let target = made.rows(relative(&one.rows, &mine.wanted[0]))?;
        let tile = Tile::from_bytes(made.dtype(), &bytes);
        let unlike = OperationFault::Unlike { member: one.source };
        target.write(&LocalArray::new(target.shape(), tile.ok_or(unlike)?)?)?;
    }
    Ok(())
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    let start = one.start.max(other.start);
    start..one.end.min(other.end).max(start)
}

/// A range counted from the start of another one.
fn relative(range: &Range<usize>, base: &Range<usize>) -> Range<usize> {
    range.start - base.start..range.end - base.start
}

/// Some rows and the columns of a request, counted from the start of a box.
fn inside(rows: &Range<usize>, wanted: &[Range<usize>], owned: &[Range<usize>]) -> IndexBox {
    let columns = wanted.iter().zip(owned).skip(1);
    let columns = columns.map(|(wanted, owned)| relative(wanted, owned));
    std::iter::once(relative(rows, &owned[0])).chain(columns).collect()
}
