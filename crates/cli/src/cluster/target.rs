//! The cluster that a program is to run on.

use anyhow::{Result, anyhow};
use clap::Args;
use pantile::cluster::{Cluster, ClusterOptions};
use pantile::launch::{CLUSTER, Environment};

use super::protection::Protection;
use super::{host_and_port, is_loopback};
use crate::program::Options;

#[derive(Args)]
pub(crate) struct ClusterTarget {
    /// The coordinator whose workers host the ranks [default: PANTILE_CLUSTER]
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "backend")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    protection: Protection,
}

impl ClusterTarget {
    /// The coordinator that is asked for, here or by the environment. A backend that is asked for
    /// here, or a launcher, weighs more than the environment.
    pub(crate) fn address(&self, backend_asked: bool) -> Option<String> {
        let named = || if backend_asked { None } else { Environment::of_process().cluster() };
        self.cluster.clone().or_else(named)
    }

    /// Opens a session, with as many ranks as are asked for, else as the workers like to host.
    ///
    /// # Errors
    /// No coordinator or no worker is there, or they refuse this client.
    pub(crate) fn connect(&self, address: &str, options: &Options) -> Result<Cluster> {
        host_and_port(if self.cluster.is_some() { "--cluster" } else { CLUSTER }, address)?;
        let mut wanted = ClusterOptions::default();
        wanted.ranks = options.said_ranks()?.unwrap_or(0);
        wanted.guard = self.protection.guard()?;
        Cluster::connect(address, wanted).map_err(|error| match self.cluster {
            Some(_) => error.into(),
            None => anyhow!("{CLUSTER} is `{address}`: {error}"),
        })
    }
}

/// True if a coordinator is on this machine, to judge by its address.
pub(crate) fn is_near(address: &str) -> bool {
    address.rsplit_once(':').is_some_and(|(host, _)| is_loopback(host))
}
