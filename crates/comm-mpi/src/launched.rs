//! Whether a launcher started this process, as its environment tells.

use std::fmt;

/// What is known about the job that this process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launched {
    /// How many processes were started together; PMIx alone does not say.
    pub ranks: Option<usize>,
    /// Which of them this process is.
    pub rank: Option<usize>,
    /// The variable that tells, and which launchers set it.
    pub(crate) sign: Sign,
}

/// What gives a launcher away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    /// A variable with the number of processes, or with the number of this one.
    variable: &'static str,
    value: usize,
    launcher: &'static str,
}

impl Sign {
    /// True if Slurm started the processes itself, which needs to be told how.
    #[cfg(any(feature = "mpi", test))]
    pub(crate) fn is_slurm(self) -> bool {
        self.launcher == SRUN
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}={})", self.launcher, self.variable, self.value)
    }
}

/// Launchers that give a size and a rank to each of their processes.
const LAUNCHERS: [(&str, &str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "the launcher of Open MPI"),
    ("PMI_SIZE", "PMI_RANK", "a launcher with PMI, such as MPICH's"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "the launcher of MVAPICH"),
];

/// The launcher of Slurm.
const SRUN: &str = "srun";

/// Where Slurm says how many tasks there are.
const SLURM_SIZES: [&str; 2] = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"];

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
    let count = |name: &str| number(name).and_then(|n| usize::try_from(n).ok());
    let size = |name: &str| count(name).filter(|n| *n > 0);
    let of_size = |variable, value, rank: &str, launcher| Launched {
        ranks: Some(value),
        rank: count(rank),
        sign: Sign { variable, value, launcher },
    };
    for (variable, rank, launcher) in LAUNCHERS {
        if let Some(value) = size(variable) {
            return Some(of_size(variable, value, rank, launcher));
        }
    }
    let in_step = number("SLURM_STEP_ID").is_none_or(|step| step < SLURM_STEPS_MAX);
    let slurm = SLURM_SIZES.into_iter().find_map(|name| Some((name, size(name)?)));
    if let (Some(_), true, Some((variable, value))) = (number("SLURM_PROCID"), in_step, slurm) {
        return Some(of_size(variable, value, "SLURM_PROCID", SRUN));
    }
    let (variable, launcher) = ("PMIX_RANK", "a launcher with PMIx");
    let value = count(variable)?;
    Some(Launched { ranks: None, rank: Some(value), sign: Sign { variable, value, launcher } })
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
    fn each_process_knows_which_it_is_and_who_says_so() {
        let said = |variables: &[(&str, &str)]| {
            let found = |name: &str| variables.iter().find(|(known, _)| *known == name);
            let launched = launched(|name| found(name).map(|(_, value)| (*value).to_owned()));
            launched.map(|launched| (launched.rank, launched.sign.to_string()))
        };
        let check = |variables: &[(&str, &str)], rank: Option<usize>, sign: &str| {
            assert_eq!(said(variables), Some((rank, sign.to_owned())), "{variables:?}");
        };
        let open = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")];
        check(&open, Some(3), "the launcher of Open MPI (OMPI_COMM_WORLD_SIZE=4)");
        let mpich = "a launcher with PMI, such as MPICH's (PMI_SIZE=2)";
        check(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")], Some(0), mpich);
        check(&[("PMI_SIZE", "2")], None, mpich);
        check(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "5")], Some(5), "srun (SLURM_NTASKS=8)");
        check(&[("PMIX_RANK", "7")], Some(7), "a launcher with PMIx (PMIX_RANK=7)");
    }

    #[test]
    fn nonsense_is_ignored() {
        check(&[("OMPI_COMM_WORLD_SIZE", "many")], None);
        check(&[("OMPI_COMM_WORLD_SIZE", "0"), ("PMI_SIZE", "2")], Some(Some(2)));
        check(&[("PMI_SIZE", "-1")], None);
        check(&[("PMIX_RANK", "")], None);
    }
}
