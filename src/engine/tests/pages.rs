//! Pages: nothing is lost or doubled while operations end in between.

use std::collections::BTreeSet;

use super::*;
use crate::engine::PageQuery;

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_whole_while_operations_end() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let other = principal("other", PrincipalKind::Agent, &[Role::Agent]);
    let others = world.handle.open_run(&other, all_tools()).await.unwrap().run.id;
    let mut mine = BTreeSet::new();
    for n in 0..60 {
        if n % 3 == 0 {
            let request = request("set_note", "n", "x");
            world.handle.propose(others, &other, request).await.unwrap();
        } else {
            mine.insert(propose(&world, run, "set_note", "n").await);
        }
    }
    let (mut seen, mut query) = (Vec::new(), PageQuery { limit: 7, ..PageQuery::default() });
    let mut to_end = mine.iter().copied();
    loop {
        let page = world.handle.page(&query, &agent()).unwrap();
        seen.extend(page.operations.iter().map(|stored| stored.operation.id()));
        for id in to_end.by_ref().take(5) {
            world.handle.command(id, cancel(), &agent()).await.unwrap();
        }
        let Some(next) = page.next else { break };
        query.before = Some(next);
    }
    assert_eq!(seen.len(), mine.len(), "none twice, none of others");
    assert!(seen.is_sorted_by(|a, b| a > b), "newest first");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), mine);
    for (state, wide) in [(State::Cancelled, false), (State::Proposed, true)] {
        let query = PageQuery { states: vec![state], before: None, limit: 1_000 };
        let page = world.handle.page(&query, &if wide { olga() } else { agent() }).unwrap();
        assert!(page.operations.iter().all(|stored| stored.operation.state == state));
        assert!(page.next.is_none() && !page.operations.is_empty());
    }
}
