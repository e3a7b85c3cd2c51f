//! Whether a launcher started this process, as its environment tells.

/// What is known about the job that this process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launched {
    /// How many processes were started together; PMIx alone does not say.
    pub ranks: Option<usize>,
}

/// Sizes that a launcher gives to each of its processes: Open MPI, MPICH and others by PMI, MVAPICH.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// Step numbers from here on mean the script of a Slurm job and its like: one process that was not
/// started together with others, although it sees how many tasks the job has.
const SLURM_STEPS_MAX: u64 = 0xffff_fff0;

/// Tells from environment variables whether this process is one of several that `mpirun`,
/// `mpiexec` or `srun` started together. Nothing of MPI is called.
///
/// `lookup` gives the value of a variable, as `|name| std::env::var(name).ok()` does.
#[must_use]
pub fn launched(lookup: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| lookup(name)?.trim().parse::<u64>().ok();
    let count = |name: &str| number(name).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    if let Some(ranks) = SIZES.into_iter().find_map(count) {
        return Some(Launched { ranks: Some(ranks) });
    }
    let in_step = number("SLURM_STEP_ID").is_none_or(|step| step < SLURM_STEPS_MAX);
    let slurm = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"].into_iter().find_map(count);
    if let (Some(_), true, Some(ranks)) = (number("SLURM_PROCID"), in_step, slurm) {
        return Some(Launched { ranks: Some(ranks) });
    }
    number("PMIX_RANK").map(|_| Launched { ranks: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Option<Option<usize>>) {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(launched(lookup).map(|launched| launched.ranks), expected, "{variables:?}");
    }

    #[test]
    fn launchers_are_recognised() {
        check(&[], None);
        check(&[("PATH", "/bin"), ("SLURM_JOB_ID", "12")], None);
        check(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")], Some(Some(4)));
        check(&[("PMI_SIZE", " 2 "), ("PMI_RANK", "1")], Some(Some(2)));
        check(&[("MV2_COMM_WORLD_SIZE", "3")], Some(Some(3)));
        check(&[("PMIX_RANK", "7")], Some(None));
        check(&[("OMPI_COMM_WORLD_SIZE", "1")], Some(Some(1)));
    }

    #[test]
    fn a_slurm_step_is_one_and_a_slurm_script_is_none() {
        let tasks = ("SLURM_NTASKS", "8");
        check(&[tasks], None);
        check(&[("SLURM_PROCID", "3"), tasks], Some(Some(8)));
        check(&[("SLURM_PROCID", "3"), tasks, ("SLURM_STEP_ID", "0")], Some(Some(8)));
        check(&[("SLURM_PROCID", "0"), tasks, ("SLURM_STEP_ID", "4294967291")], None);
        let smaller = ("SLURM_STEP_NUM_TASKS", "2");
        check(&[("SLURM_PROCID", "1"), tasks, smaller], Some(Some(2)));
        check(&[("SLURM_PROCID", "1"), tasks, ("PMIX_RANK", "1")], Some(Some(8)));
    }

    #[test]
    fn nonsense_is_ignored() {
        check(&[("OMPI_COMM_WORLD_SIZE", "many")], None);
        check(&[("OMPI_COMM_WORLD_SIZE", "0"), ("PMI_SIZE", "2")], Some(Some(2)));
        check(&[("PMI_SIZE", "-1")], None);
        check(&[("PMIX_RANK", "")], None);
    }
}
