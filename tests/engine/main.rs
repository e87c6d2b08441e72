//! Tests the rules, as rows of text (`rows`) and as properties, against the engine alone. `tests/cluster` compares the
//! same engine with the real collector.

#[allow(dead_code, reason = "shared with the tests against the real collector, which need other parts of it")]
#[path = "../graphs/mod.rs"]
mod graphs;

mod after_a_sweep;
mod decisions;
mod diagnosed;
mod explain;
mod facts;
mod gates;
mod generator;
mod keep;
mod live;
mod order_sensitivity;
mod orders;
mod properties;
mod reclaim;
mod recorded;
mod removed;
mod requests;
mod rows;
mod scene;
mod shrinking;
mod side_by_side;
mod starts;
mod texts;
mod then;
mod tracker;
mod unlisted_contents;
mod verdict;
mod views;
