//! All adversaries at once, in random order: see [`World`] for what they do.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use proptest::prelude::RngExt as _;

use super::{
    cluster,
    world::{Manners, World},
};
use crate::{
    bench::number,
    graphs::generate::rng,
    harness::{
        Alone, Audit, COLLECTOR, Cluster, CountingProxy, Fault, Halt, Moment, Options, PATIENCE, Request, Retry,
        is_write, needs, poll, wait_until,
    },
    sweep::seat::{Seat, SweepSettings},
};

/// How many of each sort of adversary there are.
const KEEPERS: u64 = 4;
const SAVERS: u64 = 3;
const DOOMERS: u64 = 1;

/// How much the adversaries must do before the next disturbance: a few seconds on an idle machine, longer on a busy
/// one.
#[derive(Clone, Copy)]
struct Much {
    exchanged: usize,
    saved: usize,
    lost: usize,
}

const SOME: Much = Much { exchanged: 30, saved: 6, lost: 2 };
const MORE: Much = Much { exchanged: 120, saved: 20, lost: 6 };

/// Waits until the adversaries have done this much more, then checks that nothing was deleted wrongly.
#[track_caller]
fn let_happen(much: Much, world: &World, audit: &Audit) {
    let counts = || [&world.exchanged, &world.saved, &world.lost].map(|count| count.load(Ordering::Relaxed));
    let before = counts();
    let wanted = [much.exchanged, much.saved, much.lost];
    let enough = |now: &[usize; 3]| (0..3).all(|sort| now[sort] >= before[sort] + wanted[sort]);
    let verdict =
        poll(PATIENCE, || Some(counts()).filter(enough).ok_or_else(|| Retry::Later(format!("{:?}", counts()))));
    verdict.unwrap_or_else(|now| {
        panic!("{wanted:?} shall be exchanged, saved, lost after {before:?}, and are not: {now}")
    });
    nobody_died(world, audit);
}

/// How many requests of a sweep are certainly part of its start.
const STARTING: usize = 60;
/// Delays reads briefly and writes for longer, so that other changes come in between.
fn slowly(seed: u64) -> impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static {
    let rng = Mutex::new(rng(seed));
    move |request| {
        let mut rng = rng.lock().unwrap();
        let most = match request.method.as_str() {
            "DELETE" | "PATCH" => 250,
            // A watch may be slow, but not each of a hundred lists.
            _ if request.query.contains("watch=") || !request.query.is_empty() => 2,
            _ => 40,
        };
        Some(Fault::Delay(Duration::from_millis(rng.random_range(0..most))))
    }
}

/// Runs the adversaries until `disturb` returns, then compares the objects that exist with those that must exist.
fn play(seat: Seat, cluster: &Alone, proxy: &CountingProxy, audit: &Audit, seed: u64, disturb: impl FnOnce(&World)) {
    let world = World::on(cluster);
    proxy.with(slowly(seed));
    let disturbed = thread::scope(|scope| {
        for number in 0..KEEPERS {
            let world = &world;
            scope.spawn(move || world.keep_alive(seed + number));
        }
        for number in 0..SAVERS {
            let world = &world;
            scope.spawn(move || world.save(seed + 100 + number));
        }
        for number in 0..DOOMERS {
            let world = &world;
            scope.spawn(move || world.doom(seed + 200 + number));
        }
        let disturbed = panic::catch_unwind(AssertUnwindSafe(|| disturb(&world)));
        world.over.store(true, Ordering::Relaxed);
        disturbed
    });
    if let Err(panic) = disturbed {
        panic::resume_unwind(panic);
    }
    nobody_died(&world, audit);
    let mut left = world.wait_for_the_rest(PATIENCE);
    if seat == Seat::Collector && !left.is_empty() && left.iter().all(|known| known.replaced) {
        eprintln!("R2.11: {} are left until the collector restarts, such as {}", left.len(), left[0]);
        cluster.stop_controllers();
        cluster.start_controllers(&[COLLECTOR]);
        left = world.wait_for_the_rest(PATIENCE);
    }
    if let Some(first) = left.first() {
        let all = world.must_go.lock().unwrap().len();
        panic!(
            "{} of {all} should be gone and are still there, such as {first}\n{}",
            left.len(),
            audit.history(first.path())
        );
    }
    nobody_died(&world, audit);
    // Without enough activity the test proves nothing.
    let [exchanged, saved, lost] =
        [&world.exchanged, &world.saved, &world.lost].map(|count| count.load(Ordering::Relaxed));
    eprintln!(
        "owners exchanged {exchanged} times; {saved} objects saved, {lost} lost; {} had to go",
        world.must_go.lock().unwrap().len()
    );
    assert!(exchanged > 100 && saved > 20 && lost > 5, "{exchanged} exchanged, {saved} saved, {lost} lost");
}

#[track_caller]
fn nobody_died(world: &World, audit: &Audit) {
    let gone = world.wrongly_gone();
    if let Some(first) = gone.first() {
        panic!(
            "{} with an owner that lives were deleted, such as {first}\n{}",
            gone.len(),
            audit.history(first.path())
        );
    }
}

fn seed() -> u64 {
    let seed = number("SEED", u64::from(std::process::id()));
    eprintln!("SEED={seed}");
    seed
}

fn crash(cluster: &Alone) {
    cluster.kill_api_server();
    thread::sleep(Duration::from_millis(500));
    cluster.start_api_server_again();
}

/// Tests this test: the real collector must pass it, too.
#[test]
#[ignore = "long: is about the tests themselves"]
fn the_collector_never_deletes_what_has_an_owner_that_lives() {
    let audit = Audit::new();
    let (cluster, proxy) = cluster(&Options { api_server: audit.flags(), ..Options::default() });
    let seated = Seat::Collector.take(&cluster, proxy.kubeconfig());
    let disturb = |world: &World| {
        let_happen(MORE, world, &audit);
        crash(&cluster);
        let_happen(MORE, world, &audit);
    };
    play(Seat::Collector, &cluster, &proxy, &audit, seed(), disturb);
    seated.leave();
}

#[test]
#[ignore = "long: kills among adversaries, at random"]
fn a_sweep_never_deletes_what_has_an_owner_that_lives() {
    a_sweep_deletes_nothing_that_has_to_live(SOME, 10);
}

/// Kills each sweep again and again, `KILLS` times in all.
#[test]
#[ignore = "long: 100 kills"]
fn a_sweep_never_deletes_what_has_an_owner_that_lives_however_often_it_is_killed() {
    a_sweep_deletes_nothing_that_has_to_live(MORE, number("KILLS", 100) as usize);
}

fn a_sweep_deletes_nothing_that_has_to_live(much: Much, kills: usize) {
    let audit = Audit::new();
    let (cluster, proxy) = cluster(&Options { api_server: audit.flags(), ..Options::default() });
    let seed = seed();
    let other = CountingProxy::start(&cluster);
    let first = SweepSettings::start(&cluster, proxy.kubeconfig());
    first.wait_for_sync();
    let sweeps = Mutex::new(vec![first]);
    let disturb = |world: &World| {
        world.manners.write().unwrap().annotates = true;
        // First one sweep alone; then two of them, one of which has a fast line.
        let_happen(much, world, &audit);
        crash(&cluster);
        let_happen(much, world, &audit);
        sweeps.lock().unwrap().push(SweepSettings::start(&cluster, other.kubeconfig()));
        let_happen(much, world, &audit);
        crash(&cluster);
        let_happen(much, world, &audit);
        // Kill both again and again, independently of each other.
        thread::scope(|scope| {
            let mut sweeps = sweeps.lock().unwrap();
            let (quick, slow) = (sweeps.pop().unwrap(), sweeps.pop().unwrap());
            scope.spawn(|| killed_again_and_again(&cluster, quick, &other, kills / 2, |_| None));
            scope.spawn(|| killed_again_and_again(&cluster, slow, &proxy, kills / 2, slowly(seed)));
        });
        nobody_died(world, &audit);
        // An older collector deletes by uid alone (R4.1): what gets an owner meanwhile may be lost to it.
        let beside =
            needs(34, "the part beside the real collector, which may itself delete what has an owner that lives");
        if beside {
            *world.manners.write().unwrap() = Manners { annotates: false, beside_the_original: true };
        }
        sweeps.lock().unwrap().push(SweepSettings::start(&cluster, proxy.kubeconfig()));
        if beside {
            cluster.start_controllers(&[COLLECTOR]);
            let_happen(much, world, &audit);
            cluster.stop_controllers();
        }
    };
    // The sweep alone must collect the rest.
    play(Seat::Sweep, &cluster, &proxy, &audit, seed, disturb);
    for sweep in sweeps.into_inner().unwrap() {
        sweep.terminate();
    }
}

/// Kills a sweep this many times, in turn while it starts and before or after one of its writes, later each time.
/// Starts the next one each time, behind a proxy with these faults.
fn killed_again_and_again(
    cluster: &Cluster,
    mut sweep: SweepSettings,
    proxy: &CountingProxy,
    times: usize,
    faults: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static,
) {
    let faults = Arc::new(faults);
    let moments = (0..).zip(Moment::all()).flat_map(|(number, moment)| {
        // Most of what it asks for first are lists.
        [(Moment::Before(1 + number * 7 % STARTING), false), (moment, true)]
    });
    for (moment, of_writes) in moments.take(times) {
        let halt = Halt::at(moment, move |request| is_write(request) == of_writes);
        proxy.forget();
        proxy.with({
            let (halt, faults) = (Arc::clone(&halt), Arc::clone(&faults));
            move |request| halt.strike(request).or_else(|| faults(request))
        });
        wait_until(&format!("{moment:?} of a sweep"), PATIENCE, || halt.is_reached(proxy));
        let faults = Arc::clone(&faults);
        sweep = sweep.killed(cluster, || proxy.with(move |request| faults(request)));
    }
    sweep.wait_for_sync();
}
