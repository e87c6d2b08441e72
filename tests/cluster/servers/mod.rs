//! API servers that are old or odd, and gateways before them.

mod odd;
mod version;
