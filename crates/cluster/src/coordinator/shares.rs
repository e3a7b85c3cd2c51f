//! How workers divide memory that several of them draw from.

use crate::wire::Registration;

/// What a worker may use beside others, given what all said when they came. A worker that was told
/// how much to use has that. The others divide what is free where they are, without what was
/// stated; what is free is the most that one of them saw, because those that came later saw what
/// was in use already.
pub(super) fn share(own: &Registration, all: &[&Registration]) -> u64 {
    if own.stated || own.scope == 0 {
        return own.memory;
    }
    let near = || all.iter().filter(|other| other.scope == own.scope);
    let stated = near().filter(|other| other.stated).map(|other| other.memory);
    let stated = stated.fold(0, u64::saturating_add);
    let unstated = || near().filter(|other| !other.stated);
    let free = unstated().map(|other| other.memory).max().unwrap_or(own.memory);
    free.saturating_sub(stated) / unstated().count().max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_of_one_machine_divide_what_is_free() {
        let worker = |scope, memory, stated| Registration {
            scope,
            memory,
            stated,
            ..Registration::default()
        };
        let check = |workers: &[Registration], expected: &[u64]| {
            let all: Vec<&Registration> = workers.iter().collect();
            let got: Vec<u64> = workers.iter().map(|own| share(own, &all)).collect();
            assert_eq!(got, expected);
        };
        check(&[worker(1, 900, false)], &[900]);
        // The second one saw what the first used already; the third one is elsewhere.
        let near = [worker(1, 900, false), worker(1, 700, false), worker(2, 500, false)];
        check(&near, &[450, 450, 500]);
        check(
            &[worker(1, 900, false), worker(1, 300, true), worker(1, 880, false)],
            &[300, 300, 300],
        );
        check(&[worker(1, 900, false), worker(1, 2000, true)], &[0, 2000]);
        check(&[worker(0, 900, false), worker(0, 800, false)], &[900, 800]);
    }
}
