//! SIGKILL at any moment of a hold and of a cancel.

use super::kit::{Kind, Scene};
use crate::harness::{Killer, Moment, is_write, shared};

/// How many moments are tried of a hold, and of the `cancel` that follows.
const FEW: usize = 3;

/// robustness kill: `delete --hold`, and then `cancel`, killed before or after a write | {FEW} moments of each |
///   `cancel`, run again, takes the delete back: every Pod is the one it was, every owner reference as before but for
///   the new uid
#[test]
#[ignore = "long: kills at six moments"]
fn killed_at_any_moment_nothing_is_lost() {
    each_kill_loses_nothing(Kind::ConfigMap, FEW);
}

/// robustness kill: the same for each kind that can be held | {FEW} moments of each, and all of a Deployment's | the
///   same
#[test]
#[ignore = "long: before and after each write"]
fn killed_at_any_moment_nothing_is_lost_each_time() {
    for kind in Kind::ALL {
        each_kill_loses_nothing(kind, if kind == Kind::Deployment { usize::MAX } else { FEW });
    }
}

/// Kills holds, and the cancel of what each has left, and lets `cancel` finish.
fn each_kill_loses_nothing(kind: Kind, most: usize) {
    let hold = ["delete", kind.word(), "--hold=1h", "--yes", "--wait=false"];
    let cancel = ["cancel", kind.word(), "--yes"];
    let killer = Killer::of(shared(), is_write);
    let scene = Scene::of(kind);
    let [holding, cancelling] = [&hold[..], &cancel].map(|args| killer.requests(&scene.in_namespace(args)));
    for held in Moment::some(holding, most) {
        for moment in Moment::some(cancelling, most) {
            let scene = Scene::of(kind);
            let before = scene.state();
            assert!(killer.kill(held, &scene.in_namespace(&hold)), "{kind:?}, {held:?}");
            if held == Moment::Before(1) {
                assert_eq!((scene.secrets(), scene.state()), (Vec::new(), before), "{kind:?}: it had not begun");
                break;
            }
            let is_killed = killer.kill(moment, &scene.in_namespace(&cancel));
            println!("{kind:?}, hold {held:?}, cancel {moment:?} {is_killed}");
            assert!(is_killed || moment != Moment::Before(1), "{kind:?}, {held:?}: there was something to take back");
            if !scene.secrets().is_empty() {
                let ran = scene.gc(&cancel);
                assert_eq!(ran.code, Some(0), "{kind:?}, {held:?}, {moment:?}: {ran:?}");
            }
            scene.is_as(&before);
            // The less was done of the hold, the sooner a cancel is done.
            if !is_killed {
                break;
            }
        }
    }
}
