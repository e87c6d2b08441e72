//! Keys in, pictures out: no terminal is needed.

use ratatui::{Terminal, backend::TestBackend, buffer::Buffer, layout::Rect};

use crate::{allocations::allocated, render::states::Tone};
use gc_core::{
    model::{Identity, effects::Severity},
    server::Propagation,
    tree::{
        ObjectStatus, Tree,
        fixture::{World, owner, shop, terminating},
    },
};

use super::{Effect, Finding, Key, News, Planned, Scene, Start, State, draw, lines};

/// The time of all pictures: a day and a bit after the objects were created.
const NOW: i64 = 90_000;

fn scene((snapshot, graph): (gc_core::model::Snapshot, gc_core::graph::OwnerGraph), live: bool) -> Box<Scene> {
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let mut scene = Scene::new(snapshot, graph, tree);
    scene.live = live;
    scene.header = "Context test (test:6443), all namespaces.".to_owned();
    Box::new(scene)
}

fn state(scene: Box<Scene>, size: (u16, u16)) -> State {
    State::new(scene, Propagation::Background, size, NOW, false)
}

/// The screen as text.
fn picture(state: &mut State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(state.size.0, state.size.1)).unwrap();
    terminal.draw(|frame| _ = draw(state, frame.buffer_mut())).unwrap();
    // The backend can't write a line without columns.
    if state.size.0 == 0 { String::new() } else { terminal.backend().to_string() }
}

fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|key| state.key(Key::Char(key))).collect()
}

/// Selects the row of `Kind/name`.
fn select(state: &mut State, name: &str) {
    let (id, _) =
        state.scene.snapshot.objects().find(|(id, _)| state.scene.snapshot.short_name(*id) == name).expect("an object");
    let entry = state.scene.place(id).expect("an entry");
    state.rows.reveal(&state.scene, entry);
    state.key(Key::Home);
    for _ in 0..state.rows.row_of(entry).expect("a row") {
        state.key(Key::Down);
    }
    assert_eq!(state.current(), Some(id));
}

#[test]
fn the_forest() {
    let mut state = state(scene(shop(), false), (80, 24));
    insta::assert_snapshot!("forest", picture(&mut state));
    state.key(Key::End);
    insta::assert_snapshot!("forest-end", picture(&mut state));
}

/// A live cluster has READY and STATUS; what could not be read is unknown, not empty.
#[test]
fn statuses() {
    let mut state = state(scene(shop(), true), (80, 24));
    select(&mut state, "Deployment/web");
    let asked = state.tick(NOW + 6);
    let [Effect::Statuses(objects)] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(objects.len() <= 24, "only what is visible: {}", objects.len());
    let status = |object: &Identity| match object.kind.as_str() {
        "Deployment" => Some(ObjectStatus { ready: "1/3".to_owned(), ..ObjectStatus::default() }),
        "ReplicaSet" => None,
        _ => Some(ObjectStatus { status: "日本語\u{1b}[31m".repeat(9), ..ObjectStatus::default() }),
    };
    let statuses = objects.iter().map(|object| (object.uid.clone(), status(object))).collect();
    assert_eq!(state.news(News::Statuses(statuses)), [], "nothing new is asked for at once");
    insta::assert_snapshot!("statuses", picture(&mut state));
}

#[test]
fn what_is_closed_stays_closed_when_the_cluster_changes() {
    let mut state = state(scene(shop(), true), (80, 24));
    select(&mut state, "ReplicaSet/web-1");
    state.key(Key::Left);
    press(&mut state, " ");
    select(&mut state, "Deployment/web");
    press(&mut state, " ");
    let (mut world, web) = (World::empty(), "ReplicaSet/web-1");
    world.add("shop", "ConfigMap/new", &[]);
    world.add("shop", web, &[]);
    world.add("shop", "Pod/web-1-0", &[web]);
    state.news(News::Scene(scene(world.build(), true)));
    assert_eq!(state.marks.iter().map(Identity::short_name).collect::<Vec<_>>(), [web]);
    insta::assert_snapshot!("changed", picture(&mut state));
}

#[test]
fn nothing_at_all() {
    let mut state = state(scene(World::empty().build(), true), (80, 24));
    insta::assert_snapshot!("empty", picture(&mut state));
    let keys = [Key::Up, Key::Down, Key::Left, Key::Right, Key::PageDown, Key::End, Key::Enter, Key::Tab];
    keys.into_iter().for_each(|key| drop(state.key(key)));
    assert_eq!(press(&mut state, "obpdy u+-"), []);
}

/// Every key at every size, small ones too, on everything that a tree can hold: nothing panics, and nothing but what is
/// asked for happens.
#[test]
fn no_key_breaks_anything() {
    let keys = "jkhl+-ob up\tfG!y?gd/x";
    for (width, height) in [(0, 0), (1, 1), (2, 2), (3, 3), (10, 4), (20, 5), (39, 9), (80, 24), (300, 100)] {
        for live in [false, true] {
            let mut state = state(scene(shop(), live), (width, height));
            for round in (0..state.rows.len()).step_by(12) {
                for key in keys.chars() {
                    let key = if key == '\t' { Key::Tab } else { Key::Char(key) };
                    let effects = state.key(key);
                    assert!(!effects.contains(&Effect::Leave), "{key:?}");
                    picture(&mut state);
                    if state.filtering || !state.panes.is_empty() {
                        for key in [Key::Down, Key::PageDown, Key::End, Key::Enter, Key::Up, Key::Esc] {
                            state.key(key);
                            picture(&mut state);
                        }
                    }
                    while state.filtering || state.rows.is_filtered() || !state.panes.is_empty() {
                        state.key(Key::Esc);
                    }
                }
                state.resized((width.saturating_sub(round as u16), height));
                state.resized((width, height));
                (0..12).for_each(|_| drop(state.key(Key::Down)));
            }
        }
    }
}

/// A terminal changes its size between any two steps: what is drawn fits the terminal as it is then.
#[test]
fn the_picture_is_as_large_as_the_terminal_is_when_it_is_drawn() {
    let sizes = [(0, 0), (1, 1), (3, 2), (30, 6), (80, 24), (300, 100)];
    for before in sizes {
        for (width, height) in sizes {
            for keys in ["G", "p", "Gp", "!", "?", "o", "/web"] {
                let mut state = state(scene(shop(), true), before);
                press(&mut state, keys);
                let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
                let effects = draw(&mut state, &mut buffer).effects;
                let plan = effects.iter().any(|effect| matches!(effect, Effect::Plan { .. }));
                assert_eq!(plan, keys.ends_with('p') && width != before.0, "{before:?} {width} {keys}: {effects:?}");
                let mut at_rest = buffer.clone();
                at_rest.reset();
                assert_eq!(draw(&mut state, &mut at_rest).effects, []);
                assert_eq!(buffer, at_rest, "{before:?} {keys}");
            }
        }
    }
}

#[test]
fn small_terminals() {
    let mut state = state(scene(shop(), true), (30, 8));
    insta::assert_snapshot!("small", picture(&mut state));
    state.resized((12, 3));
    insta::assert_snapshot!("tiny", picture(&mut state));
}

#[test]
fn the_filter() {
    let mut state = state(scene(shop(), false), (80, 24));
    press(&mut state, "/POD web-1-3");
    insta::assert_snapshot!("filter", picture(&mut state));
    state.key(Key::Enter);
    press(&mut state, "j");
    assert!(state.rows.is_filtered(), "it stays after Enter");
    state.key(Key::Esc);
    assert!(!state.rows.is_filtered());
    press(&mut state, "/no such thing");
    assert!(picture(&mut state).contains("Nothing matches the filter."));
    state.key(Key::Esc);
    press(&mut state, "/terminating");
    let shown = picture(&mut state);
    assert_eq!(state.rows.matching, 3, "{shown}");
}

/// An owner that is not there is named, with what is known of it; one that is there is gone to, and back.
#[test]
fn owners() {
    let mut state = state(scene(shop(), false), (80, 24));
    select(&mut state, "Pod/web-1-3");
    press(&mut state, "o");
    assert_eq!(state.current().map(|id| state.scene.snapshot.short_name(id)).as_deref(), Some("ReplicaSet/web-1"));
    press(&mut state, "b");
    assert_eq!(state.current().map(|id| state.scene.snapshot.short_name(id)).as_deref(), Some("Pod/web-1-3"));
    select(&mut state, "ConfigMap/both");
    press(&mut state, "o");
    insta::assert_snapshot!("owners", picture(&mut state));
    state.key(Key::Down);
    state.key(Key::Enter);
    assert_eq!(state.current().map(|id| state.scene.snapshot.short_name(id)).as_deref(), Some("Pod/web-1-0"));
    let words = |state: &mut State, name: &str| {
        select(state, name);
        press(state, "o");
        let shown = picture(state);
        state.key(Key::Enter);
        state.key(Key::Esc);
        shown
    };
    assert!(
        words(&mut state, "ConfigMap/locked")
            .contains("Secret/token: could not be read: it is not known whether it exists")
    );
    assert!(!words(&mut state, "ConfigMap/locked").contains("not exist"), "unknown is not absent");
    assert!(words(&mut state, "ConfigMap/left-over").contains("ReplicaSet/gone: missing"));
}

#[test]
fn details_and_gaps_and_help() {
    let mut state = state(scene(shop(), false), (80, 24));
    select(&mut state, "Shop/main");
    state.key(Key::Enter);
    insta::assert_snapshot!("details", picture(&mut state));
    state.key(Key::Esc);
    press(&mut state, "?");
    insta::assert_snapshot!("help", picture(&mut state));
    state.key(Key::Esc);
    assert_eq!(press(&mut state, "q"), [Effect::Leave]);
}

#[test]
fn a_plan_of_what_is_marked() {
    let mut state = state(scene(shop(), true), (80, 24));
    select(&mut state, "Deployment/web");
    press(&mut state, " ");
    select(&mut state, "Shop/main");
    press(&mut state, " ");
    let effects = press(&mut state, "p");
    let Some(Effect::Plan { request, targets, propagation, width }) =
        effects.iter().find(|effect| matches!(effect, Effect::Plan { .. }))
    else {
        panic!("{effects:?}")
    };
    let names: Vec<String> = targets.iter().map(Identity::short_name).collect();
    assert_eq!((names.join(" ").as_str(), *width), ("Deployment/web Shop/main", 80));
    assert_eq!(*propagation, Propagation::Background);
    let of = |request: u64, propagation: Propagation, text: &str| {
        News::Planned(Planned { request, propagation, text: lines(text), commands: vec!["kubectl x".to_owned()] })
    };
    let request = *request;
    // The answer to an earlier question is of no interest any more.
    let effects = state.key(Key::Tab);
    assert!(matches!(effects[0], Effect::Plan { propagation: Propagation::Foreground, .. }), "{effects:?}");
    state.news(of(request, Propagation::Background, "stale"));
    assert!(!picture(&mut state).contains("stale"));
    state.news(of(request + 1, Propagation::Foreground, "2 objects go"));
    insta::assert_snapshot!("plan", picture(&mut state));
    assert!(press(&mut state, "y").contains(&Effect::Copy("kubectl x".to_owned())));
    insta::assert_snapshot!("copied", picture(&mut state));
    state.key(Key::Esc);
    // What is asked for while a plan is on its way is done when it is there, but not for another plan.
    press(&mut state, "p");
    assert!(!press(&mut state, "y").iter().any(|effect| matches!(effect, Effect::Copy(_))));
    assert!(picture(&mut state).contains("as soon as the plan is there"), "{}", picture(&mut state));
    let effects = state.news(of(request + 2, Propagation::Foreground, "2 objects go"));
    assert!(effects.contains(&Effect::Copy("kubectl x".to_owned())), "{effects:?}");
    state.key(Key::Esc);
    press(&mut state, "p");
    press(&mut state, "y");
    press(&mut state, "p");
    let effects = state.news(of(request + 4, Propagation::Foreground, "2 objects go"));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Copy(_))), "{effects:?}");
    // A plan is of a moment: that it has passed is said.
    state.news(News::Scene(scene(shop(), true)));
    assert!(picture(&mut state).contains("p plans again"), "{}", picture(&mut state));
    let effects = press(&mut state, "d");
    assert!(
        matches!(&effects[0], Effect::Delete { targets, propagation: Propagation::Foreground } if targets.len() == 2),
        "{effects:?}"
    );
}

/// A dump can't be written to, and only one delete runs at a time.
#[test]
fn what_cannot_be_deleted() {
    let mut dump = state(scene(shop(), false), (80, 24));
    assert_eq!(press(&mut dump, "d"), []);
    assert!(picture(&mut dump).contains("This is a dump"));
    let mut live = state(scene(shop(), true), (80, 24));
    live.begins_to_delete();
    assert!(!press(&mut live, "d").iter().any(|effect| matches!(effect, Effect::Delete { .. })));
    live.news(News::Deleting("Deleting: 1 of 2 deleted".to_owned()));
    live.key(Key::Down);
    assert!(picture(&mut live).contains("Deleting: 1 of 2 deleted"));
    assert!(!press(&mut live, "q").contains(&Effect::Leave), "the first q says what goes on");
    assert!(press(&mut live, "q").contains(&Effect::Leave));
    live.news(News::Deleted(lines("All as planned.")));
    assert!(picture(&mut live).contains("All as planned.") && !live.is_deleting());
}

#[test]
fn findings() {
    let mut state = state(scene(shop(), false), (80, 24));
    let target = state.scene.identity(state.scene.snapshot.objects().last().expect("an object").0);
    assert!(matches!(state.start(Start::Findings, &[])[0], Effect::Diagnose { width: 80 }));
    assert!(picture(&mut state).contains("Looking for problems"));
    let finding = |severity, title: &str| Finding {
        severity,
        title: title.to_owned(),
        text: lines(&format!("\u{1b}[31;1m{title}\u{1b}[0m\n  Do: one of two")),
        commands: vec!["kubectl one".to_owned(), "kubectl two".to_owned()],
        object: Some(target.clone()),
    };
    let found = vec![finding(Severity::Error, "ERROR stuck"), finding(Severity::Note, "NOTE quiet")];
    state.news(News::Diagnosed(Ok(found)));
    insta::assert_snapshot!("findings", picture(&mut state));
    state.key(Key::Enter);
    let copied: Vec<Effect> = ["y", "y", "y"].into_iter().flat_map(|key| press(&mut state, key)).collect();
    assert_eq!(copied, ["one", "two", "one"].map(|which| Effect::Copy(format!("kubectl {which}"))));
    state.key(Key::Esc);
    press(&mut state, "o");
    assert_eq!(state.current().map(|id| state.scene.identity(id)), Some(target));
    state.start(Start::Findings, &[]);
    state.news(News::Diagnosed(Ok(Vec::new())));
    // Secrets were not read.
    assert!(picture(&mut state).contains("as far as could be read") || state.scene.snapshot.gaps.is_empty());
}

/// Names are data: nothing of them reaches the terminal as it is.
#[test]
fn hostile_names() {
    let mut world = World::empty();
    let evil = "ConfigMap/evil\u{1b}[31m\u{1b}]0;x\u{7}\r\n\u{202e}\t";
    world.add("sh\u{1b}op", evil, &[]);
    world.add_with("shop", "Pod/日本語日本語", vec![owner(evil)], terminating(&["fin\u{7}alizer"]));
    let mut state = state(scene(world.build(), true), (60, 20));
    let mut shown = picture(&mut state);
    for key in
        [Key::Enter, Key::Esc, Key::Char('o'), Key::Esc, Key::Char(' '), Key::Char('p'), Key::Esc, Key::Char('y')]
    {
        state.key(key);
        shown += &picture(&mut state);
    }
    state.news(News::Note("a\u{1b}b".to_owned()));
    state.news(News::Doing("a\u{1b}b".to_owned()));
    shown += &picture(&mut state);
    let bad: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n' || *c == '\u{202e}').collect();
    assert_eq!(bad, [], "{shown}");
}

#[test]
fn tones_are_colours_only_if_they_are_wanted() {
    let mut state = state(scene(shop(), true), (80, 24));
    let colours = |state: &mut State| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| _ = draw(state, frame.buffer_mut())).unwrap();
        let cells = terminal.backend().buffer().content().to_vec();
        cells.iter().filter(|cell| cell.fg != ratatui::style::Color::Reset).count()
    };
    assert_eq!(colours(&mut state), 0);
    state.colours = true;
    assert!(colours(&mut state) > 0);
    assert_eq!(lines("\u{1b}[33mx\u{1b}[0m")[0][0].0, Tone::Warning);
}

/// So many ConfigMaps, of which each tenth owns the others.
fn many(objects: usize) -> Box<Scene> {
    let mut world = World::empty();
    for number in 0..objects {
        let name = format!("ConfigMap/c{number:06}");
        match number % 10 {
            0 => world.add("shop", &name, &[]),
            _ => world.add("shop", &name, &[&format!("ConfigMap/c{:06}", number / 10 * 10)]),
        };
    }
    scene(world.build(), false)
}

/// However many objects there are, a key and the picture after it take the same work, and only visible rows are laid
/// out.
#[test]
fn a_key_costs_the_same_with_100_000_objects() {
    let cost = |objects: usize| {
        let mut state = state(many(objects), (80, 24));
        state.key(Key::Down);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let keys = [Key::Down, Key::PageDown, Key::Right, Key::Left, Key::Char(' '), Key::Up, Key::Char('o')];
        let (rows, allocated) = allocated(|| {
            let mut rows = 0;
            for key in keys {
                state.key(key);
                terminal.draw(|frame| rows += draw(&mut state, frame.buffer_mut()).rows).unwrap();
            }
            rows
        });
        assert!(rows <= keys.len() * 24, "{rows} rows");
        allocated
    };
    let (few, many) = (cost(1_000), cost(100_000));
    assert!(many.times <= few.times + few.times / 10, "{few:?} {many:?}");
    // The rows are moved when one of them is opened: four bytes for each, and never all that is known of them.
    assert!(many.bytes <= few.bytes + 12 * 100_000, "{few:?} {many:?}");
}

/// A chain is as deep as it is long.
#[test]
#[ignore = "long: 100,000 owners"]
fn a_chain_of_100_000_owners() {
    let mut world = World::empty();
    world.add("shop", "ConfigMap/c0", &[]);
    for number in 1..100_000 {
        world.add("shop", &format!("ConfigMap/c{number}"), &[&format!("ConfigMap/c{}", number - 1)]);
    }
    let mut state = state(scene(world.build(), false), (80, 24));
    press(&mut state, "+G");
    assert!(picture(&mut state).contains("ConfigMap/c99999"), "{}", picture(&mut state));
    press(&mut state, "/c99998");
    assert!(picture(&mut state).contains("ConfigMap/c99998"));
    state.key(Key::Esc);
    press(&mut state, "-");
    assert_eq!(state.rows.len(), 1);
}
