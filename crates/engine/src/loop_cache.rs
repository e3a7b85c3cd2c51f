//! Compiled loops that the ranks of a process share: equal bodies are compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pantile_kernels::lanes::Program;
use pantile_lanes::Body;

use crate::Error;

/// Loops that are kept; programs that use others still have them.
const KEPT: usize = 1024;

/// Compiled loops by their bodies. Clones are the same cache.
#[derive(Clone, Default)]
pub(crate) struct LoopCache(Arc<Mutex<HashMap<Body, Arc<Program>>>>);

impl LoopCache {
    /// The loop of a body, compiled now if it is new.
    ///
    /// # Errors
    /// The body cannot be compiled.
    pub(crate) fn compiled(&self, body: &Body) -> Result<Arc<Program>, Error> {
        // Ranks that want the same loop wait for the first of them.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = known.get(body) {
            return Ok(Arc::clone(program));
        }
        if known.len() >= KEPT {
            known.clear();
        }
        let program = Arc::new(Program::compile(body)?);
        known.insert(body.clone(), Arc::clone(&program));
        Ok(program)
    }
}
