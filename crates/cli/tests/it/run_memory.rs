//! The memory of `pantile run`: no more than `ulimit` allows.

use crate::common::site::{Folder, Process};

/// Eight gigabytes of elements.
const LARGE: &str = "\
func.func @main() -> !ndarray.ndarray<1000000000xf64> {
  %x = arith.constant 1.0 : f64
  %a = ndarray.create value %x : (f64) -> !ndarray.ndarray<1000000000xf64>
  return %a : !ndarray.ndarray<1000000000xf64>
}
";

#[test]
fn a_program_that_ulimit_does_not_allow_is_refused_before_it_runs() {
    let folder = Folder::new("ulimit");
    folder.put("large.dist", LARGE);
    for (ranks, gibibytes) in [(1, 2), (2, 2), (2, 4), (4, 3)] {
        let line = format!("run large.dist -n {ranks}");
        let mut limited = Process::limited(&folder.0, "large", &line, gibibytes << 20);
        let (code, words) = (limited.ended(), limited.said());
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains(&format!("but each of {ranks} ranks here can have")), "{words}");
        assert!(words.contains("(ulimit -v): more ranks"), "{words}");
    }
}
