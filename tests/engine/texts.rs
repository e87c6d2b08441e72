//! Writing a text form and reading it again gives the same value.

use crate::{
    graphs::{
        end::{Changes, unchanged},
        generate::{Mix, case},
        record,
        text::Graph,
    },
    rows,
};

#[test]
fn graphs_are_read_as_they_are_written() {
    let text = "unread Secret\n\
                Pod o0 uid=u T=30 fin=acme.io/x,orphan node=n1 claim=c <- Shop/o1@version=acme.io/v9@uid=x+! \
                    Region/o9~ Secret/o2+\n\
                Shop other:o1 T by=none\n\
                Namespace n T=0 by=Foreground spec=acme.io/x\n";
    assert_eq!(Graph::parse(text).to_string(), text);
}

#[test]
fn made_up_graphs_are_read_as_they_are_written() {
    for mix in Mix::ALL {
        for seed in 0..200 {
            let graph = case(seed, mix).graph;
            assert_eq!(Graph::parse(&graph.to_string()), graph, "{graph}");
        }
    }
}

const RECORD: &str = "\
# full 17
delete Foreground Shop/a Secret/c
  Shop a
  ConfigMap b fin=orphan <- Shop/a!
  Secret c T=0 fin=acme.io/x <- ConfigMap/b!
ended 2 times
  gone ConfigMap/b
  gone Shop/a
ended 1 times
  ConfigMap b T fin=orphan <- Shop/a
";

#[test]
fn records_are_read_as_they_are_written() {
    let text = format!("{RECORD}\n# full 18\nrestart\n  Shop a\nended 1 times\n");
    let written: Vec<String> = record::parse(&text).iter().map(ToString::to_string).collect();
    assert_eq!(written.join("\n"), text);
}

#[test]
fn records_are_printed_as_rows() {
    let row = record::parse(RECORD)[0].row();
    let graph = "  Shop a\n  ConfigMap b fin=orphan <- Shop/a!\n  Secret c T=0 fin=acme.io/x <- ConfigMap/b!\n";
    let delete = "delete Foreground Shop/a Secret/c\n  Shop/a Deleted, ConfigMap/b Deleted\n";
    assert_eq!(row, format!("found by random graphs (full 17)\n{graph}{delete}"));
    assert_eq!(rows::parse("x", &row).len(), 1);
}

#[test]
fn the_end_of_a_record_is_the_graph_but_for_what_changed() {
    let records = record::parse(RECORD);
    let graph = &records[0].trial.graph;
    let end = records[0].ends[0].0.end(graph);
    assert_eq!(end["Shop/a"], None);
    assert_eq!(end["Secret/c"], unchanged(graph)["Secret/c"]);
    let after = Graph::parse("Secret c T=0 fin=acme.io/x <- ConfigMap/b!");
    assert_eq!(Changes::between(graph, &after), records[0].ends[0].0);
    assert_eq!(records[0].ends[0].0.tell(graph), "Shop/a Deleted, ConfigMap/b Deleted");
}

#[test]
fn ends_that_were_seen_before_are_counted() {
    let mut known = record::parse(RECORD);
    record::add(&mut known, record::parse(RECORD).remove(0));
    let other = RECORD.replace("delete Foreground", "delete Background");
    record::add(&mut known, record::parse(&other).remove(0));
    assert_eq!(known.len(), 2);
    assert_eq!(known[0].ends.iter().map(|(_, times)| *times).collect::<Vec<_>>(), [4, 2]);
}
