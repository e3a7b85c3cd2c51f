//! Member programs: what each rank runs of a program in the dist dialect.
//!
//! The passes `distribute`, `coalesce`, `cores`, `member` and `overlap` make a program for each rank.
//! This crate executes such programs, from the text with distributed arrays that `distribute` gives
//! to the one with local arrays and calls of the runtime that `member` gives. Together the ranks
//! compute, byte for byte, what the lowered program computes.
//!
//! ```text
//!   program ── in_teams ── passes ── program of rank r ── execute ── rank r's share of the results
//! ```
//!
//! [`run`] does all of it; [`execute`] runs a program as it stands. Where the passes have no rule for
//! some operation, all ranks execute the program operation by operation on arrays in their default
//! partition.
//!
//! Must never contain kernels, plans or what passes rewrite: single operations are lowered, numbers of
//! slices are those of `geometry`.
//!
//! ```
//! use pantile_comm::{Communicator, threads};
//! use pantile_engine::Engine;
//! use pantile_ir::text::parse;
//!
//! let text = r#"!a = !ndarray.ndarray<8xi64, #dist.dist_env<team = 22>>
//! func.func @main() -> !a {
//!   %one = arith.constant 1 : i64
//!   %a = ndarray.arange %one, %one : (i64, i64) -> !a
//!   %x = ndarray.subview %a[0] [6] [1] : !a to !ndarray.ndarray<6xi64, #dist.dist_env<team = 22>>
//!   ndarray.insert_slice %x into %a[2] [6] [1]
//!     : !ndarray.ndarray<6xi64, #dist.dist_env<team = 22>> into !a
//!   return %a : !a
//! }"#;
//! let program = parse(text, "shift.dist").unwrap();
//! let results = threads::run(3, &Default::default(), |communicator: Communicator| {
//!     let mut engine = Engine::new(communicator);
//!     let done = pantile_member::run(&mut engine, &program, &Default::default(), &[])?;
//!     Ok::<_, pantile_member::MemberRunError>(done.results[0].tile.to_vec::<i64>())
//! });
//! let rows: Vec<Vec<i64>> = results.into_iter().map(|one| one.unwrap()).collect();
//! assert_eq!(rows, [vec![1, 2], vec![1, 2, 3], vec![4, 5, 6]]);
//! ```

mod compute;
mod control;
mod elementwise;
mod error;
mod exchange;
mod execute;
mod frame;
mod held;
mod local;
mod machine;
mod make;
mod number;
mod parts;
mod queries;
mod reduce;
mod run;
mod runtime;
mod strided;
mod tasks;
mod views;

pub use error::{MemberRunError, OperationFault};
pub use execute::execute;
pub use held::{MemberValue, PartLayout, PartedArray};
pub use local::LocalArray;
pub use make::{PASSES, PassError, in_teams, member_program};
pub use run::{
    MemberResult, MemberRun, MemberSetting, MemberWay, argument, argument_homes, result_types, run,
};
