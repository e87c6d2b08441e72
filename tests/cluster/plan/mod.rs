//! Plans against what the real control plane then does.

mod again;
mod compare;
mod compare_tests;
mod definitions;
mod draft;
mod finalizers;
mod namespaces;
mod owners;
mod pods;
mod targets;
mod three_ways;
mod trial;
mod workloads;
