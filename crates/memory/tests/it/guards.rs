//! A process that writes outside of a buffer ends; one that stays inside does not.
#![allow(unsafe_code, reason = "writes where it may not")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use pantile_memory::{ALIGNMENT, AlignedBuffer, LARGE, guarded};

/// Sizes around those that matter: nothing, a line, a page, large pages.
const SIZES: [usize; 12] = [0, 1, 63, 64, 65, 4095, 4096, 4097, 8192, LARGE - 1, LARGE, LARGE + 1];

/// Runs one test of this program with guards; it writes at a place counted from the end of a buffer.
fn run(bytes: usize, place: isize, guard: &str) -> Output {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["guards::writes", "--exact", "--nocapture"])
        .env("PANTILE_GUARD", guard)
        .env("PANTILE_GUARD_TEST", format!("{bytes} {place}"))
        .output()
        .expect("it starts")
}

/// What the processes of the other tests do; nothing by itself.
#[test]
fn writes() {
    let Ok(text) = std::env::var("PANTILE_GUARD_TEST") else { return };
    let (bytes, place) = text.split_once(' ').expect("two numbers");
    let (bytes, place): (usize, isize) =
        (bytes.parse().expect("a size"), place.parse().expect("a place"));
    let buffer = AlignedBuffer::zeroed(bytes);
    let start = buffer.start().as_ptr();
    assert!(guarded() && start.addr().is_multiple_of(ALIGNMENT));
    // SAFETY: the buffer has these bytes.
    let slice = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    assert!(slice.iter().all(|byte| *byte == 0));
    slice.fill(1);
    if place != 0 {
        // SAFETY: it is not; that is what the test is about.
        unsafe { start.wrapping_add(bytes).wrapping_offset(place - 1).write_volatile(9) };
    }
}

#[test]
fn staying_inside_is_no_fault() {
    for bytes in SIZES {
        let output = run(bytes, 0, "1");
        assert!(output.status.success(), "{bytes}: {output:?}");
    }
}

#[test]
fn a_byte_behind_the_end_is_noticed() {
    for bytes in SIZES {
        let output = run(bytes, 1, "1");
        let said = String::from_utf8_lossy(&output.stderr);
        if bytes.is_multiple_of(ALIGNMENT) {
            assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{bytes}: {said}");
        } else {
            assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{bytes}: {said}");
            let sentence = format!("byte {bytes} of a buffer of {bytes} bytes was written");
            assert!(said.contains(&sentence), "{said}");
        }
    }
}

#[test]
fn a_line_behind_the_end_is_always_a_fault() {
    for bytes in SIZES {
        let output = run(bytes, ALIGNMENT.cast_signed() + 1, "1");
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{bytes}");
    }
}

#[test]
fn a_byte_before_the_start_is_noticed() {
    let output = run(100, -100, "1");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("byte -1 of a buffer of 100 bytes was written"), "{said}");
}
