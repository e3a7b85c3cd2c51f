//! The binary of the command; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(pantile_cli::main(std::env::args_os()))
}
