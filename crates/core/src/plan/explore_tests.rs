use super::explore::{BUDGET, Budget, search};
use crate::{
    server::Propagation::Background,
    simulate::{Assume, Request, SimContext},
    tree::fixture::{World, owner},
};

/// Nearly nothing goes in the likeliest order, and nearly everything in many others. What an order takes counts, not
/// what was expected of it.
#[test]
#[ignore = "long: plays orders up to a limit"]
fn a_search_ends_however_long_its_orders_are() {
    // A linear congruential generator: nearly any graph of this sort would do.
    let mut random = 1u64;
    let mut below = |bound: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % bound
    };
    let name = |number: usize| format!("ConfigMap/{number}");
    let mut world = World::empty();
    let target = world.add("shop", &name(0), &[]);
    for number in 1..1_000 {
        let mut owners: Vec<usize> = (0..3).map(|_| below(number)).collect();
        owners.sort_unstable();
        owners.dedup();
        let orphans = below(5) == 0;
        let owners = owners.into_iter().map(|number| owner(&name(number))).collect();
        world.add_with("shop", &name(number), owners, |raw| {
            raw.finalizers = if orphans { vec!["orphan".into()] } else { Vec::new() };
        });
    }
    let (snapshot, graph) = world.build();
    let context = SimContext::new(&snapshot, &graph, Assume::Known);
    let request = Request::delete(vec![target], Background);
    let steps = |budget: Budget| search(&context, &request, budget).steps;
    let budget = Budget { delays: 10_000, random: 20_000, ..BUDGET };
    // One order may take as many steps more: the next one isn't begun.
    let longest = 100_000;
    let delays = steps(Budget { random: 0, ..budget });
    assert!((budget.delays..2 * budget.delays + longest).contains(&delays), "{delays} steps");
    let random = steps(Budget { delays: 0, ..budget });
    assert!((budget.random..budget.random + longest).contains(&random), "{random} steps");
    let little = steps(Budget { all: 15_000, ..BUDGET });
    assert!(little < 15_000 + longest, "{little} steps");
}
