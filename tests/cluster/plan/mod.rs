//! Compares plans with what the real control plane then does.

mod admission;
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
mod pods;
mod refused_anew;
mod targets;
pub mod trial;
pub mod workloads;
mod young;
