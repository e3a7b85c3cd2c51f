//! `pantile cluster keys`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use pantile::cluster::FILES;
use pantile_comm_net::Secret;
use pantile_comm_net::keys::{Authority, CertificateAndKey, CertificateRole};

use crate::numbers::plural;
use crate::report::Report;

/// The folder of processes that only connect.
const CLIENT: &str = "client";

/// By these names every host knows itself.
const SELF: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

#[derive(Args)]
#[command(after_help = "\
DIR/HOST is for the coordinator and the workers of a host, DIR/client for those who use the cluster:
bring them there by a way that you trust, and say --keys FOLDER. Whoever has one of these folders
belongs to the cluster. The key of the authority is not kept: for more hosts, make all keys anew.

Examples:
  pantile cluster keys keys --names node-1,node-2,node-3
  pantile cluster keys keys --names node-1=10.0.0.1,node-2=10.0.0.2")]
pub(super) struct Arguments {
    /// A folder that does not exist yet, or is empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Hosts by the names that others dial; a host with several: node-1=10.0.0.1
    #[arg(long, value_name = "HOST,..", value_delimiter = ',', required = true)]
    names: Vec<String>,
}

/// Makes an authority, certificates and a token.
pub(super) fn run(arguments: &Arguments) -> Result<Report> {
    let folder = &arguments.folder;
    let hosts = hosts(&arguments.names)?;
    let used = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if used {
        bail!("{} is not empty: keys are not overwritten", folder.display());
    }
    let authority = Authority::generate()?;
    let token = Secret::random()?;
    let (root, token) = (authority.certificate(), token.to_hex());
    for names in &hosts {
        let pair = authority.issue(names, CertificateRole::Server)?;
        write(&folder.join(&names[0]), (root, &pair, &token))?;
    }
    let pair = authority.issue(&[CLIENT.to_owned()], CertificateRole::Client)?;
    write(&folder.join(CLIENT), (root, &pair, &token))?;
    let text = format!(
        "{}: keys of {} and of clients\n",
        folder.display(),
        plural(hosts.len() as u128, "host")
    );
    Ok(Report::text(text))
}

/// The names of every host, the one of its folder first.
fn hosts(texts: &[String]) -> Result<Vec<Vec<String>>> {
    let mut hosts: Vec<Vec<String>> = Vec::new();
    for text in texts {
        let mut names: Vec<String> = text.split('=').map(|name| name.trim().to_owned()).collect();
        let fits = |name: &String| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
            !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
        };
        if !names.iter().all(fits) {
            bail!("--names {text}: expected names or addresses of hosts, without ports");
        }
        if names[0] == CLIENT || hosts.iter().any(|other| other[0] == names[0]) {
            bail!("--names {text}: there is a folder `{}` already", names[0]);
        }
        for own in SELF {
            if !names.iter().any(|name| name == own) {
                names.push(own.to_owned());
            }
        }
        hosts.push(names);
    }
    Ok(hosts)
}

/// Writes what [`pantile::cluster::Guard::from_folder`] reads, readable by its owner alone.
fn write(folder: &Path, (root, pair, token): (&str, &CertificateAndKey, &str)) -> Result<()> {
    let unwritable = |path: &Path, error: std::io::Error| {
        anyhow!("{} cannot be written: {error}", path.display())
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| unwritable(folder, error))?;
    for (name, text) in FILES.iter().zip([root, &pair.certificate, &pair.key, token]) {
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| writeln!(file, "{}", text.trim_end()))
            .map_err(|error| unwritable(&path, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_names_that_can_be_folders() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = hosts(&names(&["a=10.0.0.1", "localhost"])).unwrap();
        assert_eq!(found[0], names(&["a", "10.0.0.1", "localhost", "127.0.0.1", "::1"]));
        assert_eq!(found[1], names(&["localhost", "127.0.0.1", "::1"]));
        for (wrong, words) in [
            (&["../a"][..], "expected names"),
            (&["a/b"], "expected names"),
            (&["a="], "expected names"),
            (&[".."], "expected names"),
            (&["client"], "a folder `client` already"),
            (&["a", "a=b"], "a folder `a` already"),
        ] {
            let error = hosts(&names(wrong)).unwrap_err().to_string();
            assert!(error.contains(words), "{wrong:?}: {error}");
        }
    }
}
