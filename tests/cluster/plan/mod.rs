//! Plans against what the real control plane then does.

mod again;
mod compare;
mod compare_tests;
mod draft;
mod finalizers;
mod owners;
mod three_ways;
mod trial;
