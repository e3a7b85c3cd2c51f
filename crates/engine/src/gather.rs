//! All-gather of small records, of lengths that are not known before.

use pantile_comm::{
    ActiveOperation, CollectiveSignature, CommError, Communicator, MemorySlice, Rank,
};

/// The records of all members of `team`, in its order. `me` is this rank's place in the team.
///
/// In round k every member sends what it has to the member 2^k places below, so after log2(n) rounds
/// all members have all records. Every message carries the call, so a member that is elsewhere is named.
pub(crate) fn gather(
    communicator: &mut Communicator,
    call: &CollectiveSignature,
    (team, me): (&[Rank], usize),
    record: &[u8],
) -> Result<Vec<Vec<u8>>, CommError> {
    let size = team.len();
    communicator.operation(call, |operation| {
        // Records of the members me, me + 1, me + 2 ... modulo the size.
        let mut records = vec![record.to_vec()];
        while records.len() < size {
            let distance = records.len();
            let wanted = distance.min(size - distance);
            let below = team[(me + size - distance) % size];
            let above = team[(me + distance) % size];
            exchange(operation, (below, above), &mut records, wanted)?;
        }
        records.rotate_right(me);
        Ok(records)
    })
}

fn exchange(
    operation: &mut ActiveOperation<'_>,
    (below, above): (Rank, Rank),
    records: &mut Vec<Vec<u8>>,
    wanted: usize,
) -> Result<(), CommError> {
    operation.send(below, &MemorySlice::copied_from(&joined(&records[..wanted])))?;
    let message = operation.receive_any(above)?;
    let Some(more) = split(&message).filter(|more| more.len() == wanted) else {
        let (rank, reason) = (operation.rank(), format!("rank {above} sent no {wanted} records"));
        return Err(CommError::Backend { rank, call: "gathering records".to_owned(), reason });
    };
    records.extend(more);
    Ok(())
}

/// Records one after the other, each after its length.
fn joined(records: &[Vec<u8>]) -> Vec<u8> {
    let mut message = Vec::new();
    for record in records {
        message.extend((record.len() as u64).to_le_bytes());
        message.extend(record);
    }
    message
}

/// Undoes [`joined`]; nothing if that is impossible.
fn split(mut message: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    while !message.is_empty() {
        let (length, rest) = message.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let record = rest.get(..length)?;
        records.push(record.to_vec());
        message = &rest[length..];
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_comm::threads;

    #[test]
    fn everybody_gets_everything_in_order() {
        for size in 1..=9 {
            // The team runs backwards, to see that its order counts and not that of the ranks.
            let team: Vec<Rank> = (0..size).rev().collect();
            let results = threads::run(size, &Default::default(), |mut communicator| {
                let rank = communicator.rank();
                let me = size - 1 - rank;
                let record = vec![u8::try_from(rank).unwrap_or(0); rank];
                gather(
                    &mut communicator,
                    &CollectiveSignature::here("gather", 1),
                    (&team, me),
                    &record,
                )
            });
            for result in results {
                let lengths: Vec<usize> =
                    result.expect("a healthy world").iter().map(Vec::len).collect();
                assert_eq!(lengths, team);
            }
        }
    }

    #[test]
    fn damaged_messages_are_refused() {
        let records = vec![vec![1, 2], vec![], vec![3]];
        let message = joined(&records);
        assert_eq!(split(&message), Some(records));
        assert_eq!(split(&message[..message.len() - 1]), None);
        assert_eq!(split(&[1, 2, 3]), None);
    }
}
