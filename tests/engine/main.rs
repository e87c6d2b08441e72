//! The rules as tables and as properties, against the engine alone. What the real collector does is held to the same engine in
//! `tests/cluster`.

mod beyond;
mod decisions;
mod orders;
mod properties;
mod requests;
mod rules;
mod scene;
