//! 0 fine, 1 it could not be done, 2 it was done and the answer is bad news.

use super::run::{Ran, gc, on_shop, words};

#[test]
fn fine() {
    for line in [
        "tree",
        "tree -o dot",
        "plan deploy/api -n shop",
        "plan sts/db -n shop --propagation=foreground",
        "plan cronjob/report -n shop -o json",
        "plan -n elsewhere",
        "resources",
    ] {
        let Ran { code, out, .. } = on_shop(&words(line));
        assert!(code == 0 && !out.is_empty(), "{line}: {code}");
    }
    for line in ["version", "--version", "--help", "help plan", "completion bash"] {
        let Ran { code, out, err } = gc(&words(line));
        assert!(code == 0 && !out.is_empty() && err.is_empty(), "{line}: {code}");
    }
}

/// Terminating for now is not stuck: a claim waits for a controller that is known to be there.
#[test]
fn what_somebody_will_finish_is_fine() {
    let ran = on_shop(&["plan", "pvc/web-uploads", "-n", "shop"]);
    assert!(ran.out.contains("WAITS:"), "{ran}");
    assert_eq!(ran.code, 0);
}

#[test]
fn bad_news() {
    for line in [
        "plan deploy/web -n shop",
        "plan deploy/web -n shop -o json",
        "plan deploy/web -n shop -o yaml",
        "plan deploy/web -n shop -o name",
        "plan ns/shop",
        "plan -A",
        "plan -A -o json",
    ] {
        let Ran { code, out, err } = on_shop(&words(line));
        assert!(code == 2 && !out.is_empty() && err.is_empty(), "{line}: {code} {err}");
    }
}

/// Usage errors are 1, not the 2 that means bad news.
#[test]
fn it_could_not_be_done() {
    for line in
        ["", "nope", "tree -o xml", "plan --grace-period soon", "tree --nope", "completion", "resources deploy", "help nope"]
    {
        let Ran { code, out, err } = gc(&words(line));
        assert!(code == 1 && out.is_empty() && !err.is_empty(), "{line:?}: {code} {out}");
    }
}
