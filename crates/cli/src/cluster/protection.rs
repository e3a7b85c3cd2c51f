//! What a process of a cluster shows to others, and expects of them.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use pantile::cluster::Guard;
use pantile::launch::Environment;
use pantile_comm_net::Secret;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Protection {
    /// Folder of keys, as `pantile cluster keys` makes them [default: PANTILE_CLUSTER_KEYS]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// File with the token of the cluster [default: the one in the folder of keys]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Protect nothing, not even beyond this machine: only for networks that you vouch for
    #[arg(long, conflicts_with = "keys")]
    insecure: bool,
}

impl Protection {
    fn folder(&self) -> Option<PathBuf> {
        let said = || Environment::of_process().cluster_keys();
        self.keys.clone().or_else(|| if self.insecure { None } else { said() })
    }

    /// The guard that these options ask for.
    ///
    /// # Errors
    /// A file that cannot be read or used.
    pub(crate) fn guard(&self) -> Result<Guard> {
        let mut guard = match self.folder() {
            Some(folder) => Guard::from_folder(&folder)?,
            None => Guard::default(),
        };
        if let Some(path) = &self.token_file {
            let text = std::fs::read_to_string(path)
                .map_err(|error| anyhow!("{} cannot be read: {error}", path.display()))?;
            let token =
                Secret::from_hex(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
            guard = guard.with_token(token);
        }
        Ok(if self.insecure { guard.insecure() } else { guard })
    }

    /// The same options as words of a command line.
    pub(super) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(folder) = self.folder() {
            words.extend(["--keys".into(), folder.into_os_string()]);
        }
        if let Some(path) = &self.token_file {
            words.extend(["--token-file".into(), path.clone().into_os_string()]);
        }
        words.extend(self.insecure.then(|| "--insecure".into()));
        words
    }
}
