//! Compares plans with what the real control plane then does.

mod admission;
mod again;
mod aggregated;
mod besides;
mod claims;
pub mod compare;
mod compare_tests;
pub mod definitions;
pub mod draft;
mod finalizers;
mod kept_up;
mod namespaces;
mod obstacles;
mod outside;
mod owners;
mod pods;
mod refused_anew;
mod set_claims;
mod targets;
pub mod trial;
pub mod workloads;
mod young;
