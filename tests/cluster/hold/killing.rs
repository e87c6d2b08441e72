//! SIGKILL at any moment of a hold and of a cancel.

use std::time::{Duration, Instant};

use super::kit::{Kind, Scene};

/// How often a run is killed.
const FEW: usize = 2;
const MANY: usize = 50;

/// robustness kill: `delete --hold`, and then `cancel`, killed at a random moment of the run | {FEW} times each |
///   `cancel`, run again, takes the delete back: every Pod is the one it was, every owner reference as before but for
///   the new uid
#[test]
fn killed_at_any_moment_nothing_is_lost() {
    each_kill_loses_nothing(FEW, 2);
}

/// robustness kill: the same for each kind that can be held | {MANY} times each | the same
#[test]
#[ignore = "long: 50 kills"]
fn killed_at_any_moment_nothing_is_lost_each_time() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    each_kill_loses_nothing(number("KILLS").unwrap_or(MANY), u64::try_from(number("SEED").unwrap_or(1)).unwrap_or(1));
}

/// The next number of a sequence (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Kills a hold and a cancel, of each kind in turn, and lets `cancel` finish.
fn each_kill_loses_nothing(kills: usize, seed: u64) {
    let mut random = seed;
    let (mut holds, mut cancels) = (0, 0);
    let begun = Instant::now();
    // How long a run takes depends on the machine.
    let other = Scene::of(Kind::ConfigMap);
    let started = Instant::now();
    other.hold();
    let usual = started.elapsed();
    for kill in 0..kills {
        let kind = Kind::ALL[(kill + usize::try_from(seed).unwrap_or(0)) % Kind::ALL.len()];
        let scene = Scene::of(kind);
        let before = scene.state();
        let args = ["delete", kind.word(), "--hold=1h", "--yes", "--wait=false"];
        let moment = |random: &mut u64| {
            let share = u32::try_from(next(random) % 110).unwrap_or(0);
            usual * share / 100
        };
        let after = moment(&mut random);
        let killed = scene.killed_after(after, &args);
        holds += usize::from(killed);
        if scene.secrets().is_empty() {
            // It had not begun.
            assert_eq!(scene.state(), before, "{kind:?}, killed after {after:?}");
            scene.hold();
        }
        let again: Duration = moment(&mut random);
        let killed = scene.killed_after(again, &["cancel", kind.word(), "--yes"]);
        cancels += usize::from(killed);
        if !scene.secrets().is_empty() {
            let ran = scene.gc(&["cancel", kind.word(), "--yes"]);
            assert_eq!(ran.code, Some(0), "{kind:?}, killed after {after:?} and {again:?}: {ran:?}");
        }
        println!("{kill}: {kind:?}, delete killed after {after:?}, cancel after {again:?} ({killed})");
        scene.is_as(&before);
    }
    println!("{kills} runs, {holds} deletes and {cancels} cancels killed, {:?}", begun.elapsed());
    assert!(holds + cancels > 0, "the kills hit nothing");
}
