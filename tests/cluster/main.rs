//! Tests against a real control plane: etcd, kube-apiserver and kube-controller-manager, built from
//! `tests/control-plane`. One binary, so that one cluster serves them all.

#[allow(dead_code, unused_imports, reason = "a kit for all tests of this binary; what one of them needs comes with it")]
mod harness;

#[allow(dead_code, reason = "shared with the tests of the engine, which need other parts of it")]
#[path = "../graphs/mod.rs"]
mod graphs;

mod account;
mod archive;
mod completion;
mod connections;
mod content;
mod credentials;
mod delete;
mod differential;
mod doctor;
mod dot;
mod early_lists;
mod events;
mod explain;
mod facts;
mod follow;
mod habits;
mod incidents;
mod jsonpath;
mod keep;
mod line;
mod looking;
mod monitor;
mod plan;
mod print_role;
mod probe;
mod reading;
mod requests;
mod restore;
mod rights;
mod role;
mod self_test;
mod servers;
mod side_by_side;
mod snapshots;
mod statuses;
mod sweep;
mod tree_watch;
mod unhappy;
mod versions;
mod well_known;
mod workloads;
