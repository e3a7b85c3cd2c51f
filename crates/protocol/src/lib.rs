//! What other libraries say about their arrays.
