//! Compiled loops that the ranks of a process share: equal bodies are compiled once.

use std::sync::{Arc, Mutex, PoisonError};

use pantile_kernels::lanes::LoopProgram;
use pantile_lanes::LoopBody;

use crate::{BoundedCache, Error};

/// Loops that are kept, the oldest go first; programs that use them still have them.
const KEPT: usize = 64;

/// Compiled loops with their bodies. Clones are the same cache.
#[derive(Clone)]
pub(crate) struct LoopCache(Arc<Mutex<BoundedCache<LoopBody, Arc<LoopProgram>>>>);

impl Default for LoopCache {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(BoundedCache::of_count(KEPT))))
    }
}

impl LoopCache {
    /// The loop of a body, compiled now if it is new.
    ///
    /// # Errors
    /// The body cannot be compiled.
    pub(crate) fn compiled(&self, body: &LoopBody) -> Result<Arc<LoopProgram>, Error> {
        // Ranks that want the same loop wait for the first of them.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = kept.get(body) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(LoopProgram::compile(body)?);
        kept.insert(body.clone(), Arc::clone(&program), 0);
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use pantile_lanes::DType;

    use super::*;

    /// A body with so many inputs, of which it gives the first.
    fn body(inputs: usize) -> LoopBody {
        let mut body = LoopBody::new();
        let nodes: Vec<_> = (0..inputs).map(|_| body.input(DType::F64).unwrap()).collect();
        body.output(nodes[0]);
        body
    }

    #[test]
    fn equal_bodies_are_compiled_once_and_few_are_kept() {
        let cache = LoopCache::default();
        let first = cache.compiled(&body(1)).unwrap();
        let again = cache.clone().compiled(&body(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = cache.compiled(&body(2)).unwrap();
        assert_eq!((first.inputs().len(), other.inputs().len()), (1, 2));
        (3..3 + KEPT).for_each(|inputs| drop(cache.compiled(&body(inputs)).unwrap()));
        assert_eq!(cache.0.lock().unwrap().len(), KEPT);
        assert!(!Arc::ptr_eq(&first, &cache.compiled(&body(1)).unwrap()), "the oldest is gone");
    }
}
