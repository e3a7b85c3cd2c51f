//! Guard pages, in processes that end by them.

#[cfg(target_os = "linux")]
mod guards;
