//! What every command that lowers a program asks for.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use clap::Args;
use pantile::launch::Environment;
use pantile_ir::Type;
use pantile_lower::Setting;

use crate::numbers::up_to;

#[derive(Args)]
pub(crate) struct Options {
    /// The program: a file, or `-` for standard input
    #[arg(value_name = "PROGRAM")]
    pub(crate) path: String,
    /// Number of ranks [default: PANTILE_RANKS, else the number of cores]
    #[arg(short = 'n', long, value_name = "N", value_parser = up_to(u32::MAX),
          allow_negative_numbers = true)]
    pub(crate) ranks: Option<u32>,
    /// Give an argument a value or the contents of a file: x=3.5, x=data.npy, or by position, 0=3.5
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) arguments: Vec<(String, String)>,
    /// Ranks of a named team, for example --team 22=0,1; other teams have all ranks
    #[arg(long = "team", value_name = "NAME=RANKS", value_parser = parse_team)]
    teams: Vec<(String, Vec<usize>)>,
    /// Sums of floats in any order: less travels, and the last digits depend on the ranks
    #[arg(long)]
    fast: bool,
    /// Steps in time that one exchange of halos serves, with the same results [default: 1]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = up_to(64), allow_negative_numbers = true)]
    steps_per_exchange: u32,
}

impl Options {
    /// The number of ranks: as asked for, else as the environment says, else one per core.
    ///
    /// # Errors
    /// `PANTILE_RANKS` is no positive number.
    pub(crate) fn ranks(&self) -> Result<usize> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(self.said_ranks()?.unwrap_or_else(cores))
    }

    /// The number of ranks that is asked for.
    pub(crate) fn asked_ranks(&self) -> Option<usize> {
        self.ranks.map(|ranks| usize::try_from(ranks).unwrap_or(usize::MAX))
    }

    /// The number of ranks: as asked for, else as the environment says.
    ///
    /// # Errors
    /// `PANTILE_RANKS` is no positive number.
    pub(crate) fn said_ranks(&self) -> Result<Option<usize>> {
        let said = || Environment::of_process().ranks();
        Ok(self.asked_ranks().map_or_else(said, |ranks| Ok(Some(ranks)))?)
    }

    /// What the program is lowered for.
    ///
    /// # Errors
    /// A team has ranks that do not exist, or one of them twice.
    pub(crate) fn setting(&self, ranks: usize, types: Option<Vec<Type>>) -> Result<Setting> {
        let mut teams = BTreeMap::new();
        for (name, members) in &self.teams {
            if let Some(rank) = members.iter().find(|rank| **rank >= ranks) {
                bail!("--team {name}: there is no rank {rank}, expected ranks below {ranks}");
            }
            let mut sorted = members.clone();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                bail!("--team {name}: rank {} is named twice", pair[0]);
            }
            if teams.insert(name.clone(), members.clone()).is_some() {
                bail!("--team {name} is given twice");
            }
        }
        let steps_per_exchange = usize::try_from(self.steps_per_exchange).unwrap_or(1);
        let (arguments, fast) = (types, self.fast);
        Ok(Setting { ranks, teams, arguments, fast, steps_per_exchange, ..Setting::default() })
    }
}

/// How many ranks this process has, out of so many.
pub(crate) fn own_ranks(ranks: usize) -> usize {
    Environment::of_process().launched().map_or(ranks, |_| 1)
}

/// How many ranks share the memory of this machine, out of so many.
pub(crate) fn hosted_ranks(ranks: usize) -> usize {
    let environment = Environment::of_process();
    match environment.launched() {
        None => ranks,
        Some(_) => environment.local_processes().unwrap_or(ranks),
    }
}

/// Reads `name=value`.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    let expected = || format!("expected NAME=VALUE, found `{text}`");
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    let name = name.trim().trim_start_matches('%');
    if name.is_empty() || value.is_empty() {
        return Err(expected());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads `name=0,1,2`.
fn parse_team(text: &str) -> Result<(String, Vec<usize>), String> {
    let (name, list) = parse_pair(text)?;
    let rank = |part: &str| {
        part.trim()
            .parse()
            .map_err(|_| format!("expected the numbers of ranks with `,` between, found `{list}`"))
    };
    Ok((name, list.split(',').map(rank).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_teams_are_read() {
        assert_eq!(parse_pair("%x=a=b"), Ok(("x".to_owned(), "a=b".to_owned())));
        assert_eq!(parse_team("t=0, 2"), Ok(("t".to_owned(), vec![0, 2])));
        for wrong in ["x", "=3", "x=", "%=3"] {
            assert!(parse_pair(wrong).is_err(), "{wrong}");
        }
        for wrong in ["t=0,", "t=a", "t=-1"] {
            assert!(parse_team(wrong).is_err(), "{wrong}");
        }
    }
}
