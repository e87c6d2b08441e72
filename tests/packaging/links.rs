//! Links between the pages lead to files and headings that exist.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every page: those at the top, and those in `docs` and `examples`.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = ["docs", "examples"].map(|folder| root.join(folder)).into();
    let mut pages = Vec::new();
    let mut take = |path: PathBuf, open: Option<&mut Vec<PathBuf>>| match open {
        Some(open) if path.is_dir() => open.push(path),
        _ if path.extension().is_some_and(|ending| ending == "md") => pages.push(path),
        _ => {}
    };
    for entry in fs::read_dir(root).unwrap() {
        take(entry.unwrap().path(), None);
    }
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            take(entry.unwrap().path(), Some(&mut open));
        }
    }
    pages
}

/// The targets of the links in a page, but for those in quoted output and to the web.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    parts.filter(|link| !link.contains("://") && !link.contains([' ', '\n'])).collect()
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).flat_map(char::to_lowercase).collect()
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    text.contains(&format!("<a id=\"{wanted}\">")) || headings.map(anchor).any(|known| known == wanted)
}

#[test]
fn links_lead_to_files_and_headings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages(root) {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            seen += 1;
            let (path, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let is_there = target.exists()
                && (wanted.is_empty() || has_anchor(&fs::read_to_string(&target).unwrap_or_default(), wanted));
            if !is_there {
                wrong.push(format!("{}: {link}", page.strip_prefix(root).unwrap().display()));
            }
        }
    }
    assert!(seen > 100, "{seen}");
    assert!(wrong.is_empty(), "these lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn what_a_link_leads_to() {
    assert_eq!(links("[a](b.md#c) [w](https://x.y) [d](#e)"), ["b.md#c", "#e"]);
    assert!(has_anchor("# One `two`: three\n", "one-two-three") && has_anchor("## <a id=\"r1\"></a>R1", "r1"));
    assert!(!has_anchor("# One\n", "two"));
}
