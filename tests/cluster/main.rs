//! Tests against a real control plane: etcd, kube-apiserver and kube-controller-manager, built from
//! `tests/control-plane`. One binary, so that one cluster serves them all.

#[allow(dead_code, unused_imports, reason = "a kit for all tests of this binary; what one of them needs comes with it")]
#[macro_use]
mod harness;

#[macro_use]
mod side_by_side;

#[allow(dead_code, reason = "shared with the tests of the engine, which need other parts of it")]
#[path = "../graphs/mod.rs"]
mod graphs;

#[allow(dead_code, reason = "shared with the tests of the program, which need other parts of it")]
#[path = "../pages/mod.rs"]
mod pages;

mod account;
mod apply;
mod archive;
mod bench;
#[path = "../cli/chromium.rs"]
mod chromium;
mod compare;
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
mod hold;
mod incidents;
mod jsonpath;
mod keep;
mod line;
mod looking;
mod monitor;
mod page;
mod pictures;
mod plan;
mod print_role;
mod probe;
mod reading;
mod reclaim;
mod requests;
mod restore;
mod rights;
mod role;
mod self_test;
mod servers;
mod snapshots;
mod statuses;
mod sweep;
#[path = "../cli/tmux.rs"]
mod tmux;
mod tree_watch;
mod tui;
mod unhappy;
mod versions;
mod well_known;
