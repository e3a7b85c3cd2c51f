//! Which MPI this program was built with, and whether the launcher belongs to it.

/// The name and version of the MPI that was built in, if one was: `Open MPI v4.1.4`. MPI need not
/// be initialised.
#[must_use]
pub fn library() -> Option<String> {
    #[cfg(feature = "mpi")]
    return Some(
        mpi::environment::library_version().map_or_else(|_| String::new(), |all| name(&all)),
    );
    #[cfg(not(feature = "mpi"))]
    None
}

/// What matters of the text that an MPI gives about itself: packages, dates and build options
/// follow.
#[cfg(any(feature = "mpi", test))]
fn name(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("an unknown MPI");
    let words = line.split(',').next().unwrap_or(line).split_whitespace();
    words.filter(|word| *word != "Version:").collect::<Vec<_>>().join(" ")
}

/// What is wrong if the launcher says one thing about the number of processes and MPI another: then
/// each process would be a world of its own, and they would do the same work over and over.
#[cfg(any(feature = "mpi", test))]
pub(crate) fn mismatch(
    launched: Option<crate::Launched>,
    size: usize,
    library: &str,
) -> Option<String> {
    let launched = launched?;
    // A launcher that does not say how many there are may have started the first one alone.
    let beyond = launched.rank.is_some_and(|rank| rank >= size);
    if launched.ranks.map_or(!beyond, |ranks| ranks == size) {
        return None;
    }
    let sign = launched.sign;
    let hint = match sign.is_slurm() {
        true => " (with srun, `--mpi=pmix` or `--mpi=pmi2` may be missing)",
        false => "",
    };
    Some(format!(
        "started by {sign}, but {library}, which is built in, sees {size} of these processes: start \
         it with the launcher of {library}{hint}, or build it with the MPI of this launcher (set \
         `MPICC=/path/to/mpicc` for `pip install .` or `cargo build`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launched;

    #[test]
    fn names_are_short() {
        let open = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022";
        assert_eq!(name(open), "Open MPI v4.1.4");
        assert_eq!(name("MPICH Version:\t4.0.2\nMPICH Release date:\tThu"), "MPICH 4.0.2");
        assert_eq!(name("\n Intel(R) MPI Library 2021.5 \n"), "Intel(R) MPI Library 2021.5");
        assert_eq!(name(""), "an unknown MPI");
        assert_eq!(library().is_some(), cfg!(feature = "mpi"));
    }

    fn check(variables: &[(&str, &str)], size: usize, fits: bool) {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = mismatch(launched(lookup), size, "Some MPI 1.0");
        assert_eq!(found.is_none(), fits, "{variables:?}, {size}: {found:?}");
    }

    #[test]
    fn launchers_and_libraries_agree_or_not() {
        check(&[], 1, true);
        let two = [("PMI_SIZE", "2"), ("PMI_RANK", "0")];
        check(&two, 2, true);
        check(&two, 1, false);
        check(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")], 1, true);
        check(&[("OMPI_COMM_WORLD_SIZE", "4")], 1, false);
        check(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")], 4, true);
        check(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")], 1, false);
        // PMIx alone tells a number, not how many.
        check(&[("PMIX_RANK", "0")], 1, true);
        check(&[("PMIX_RANK", "1")], 2, true);
        check(&[("PMIX_RANK", "1")], 1, false);
    }

    #[test]
    fn both_are_named() {
        let launched = launched(|name| (name == "PMI_SIZE").then(|| "3".to_owned()));
        let words = mismatch(launched, 1, "Open MPI v4.1.4").unwrap_or_default();
        assert!(words.contains("a launcher with PMI, such as MPICH's (PMI_SIZE=3)"), "{words}");
        assert!(words.contains("with the launcher of Open MPI v4.1.4, or build it"), "{words}");
        let slurm = [("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")];
        let found = |name: &str| slurm.iter().find(|(known, _)| *known == name);
        let launched = crate::launched(|name| found(name).map(|(_, value)| (*value).to_owned()));
        let words = mismatch(launched, 1, "Open MPI v4.1.4").unwrap_or_default();
        assert!(words.contains("srun (SLURM_NTASKS=4)") && words.contains("--mpi=pmix"), "{words}");
    }
}
