//! Aggregated APIs, and whether they answer (S11, R9.11).

use crate::{
    model::{Resource, facts::ApiServiceFacts},
    simulate::{context::SimContext, needs::Needs},
};

use super::{
    backend::reach,
    heeded::{Api, Apis, Lack, Reach},
};

impl Apis {
    pub(crate) fn get(&self, context: &SimContext<'_>) -> &(Vec<Api>, Needs) {
        self.0.get_or_init(|| {
            let snapshot = context.snapshot;
            let mut needs = Needs::default();
            let resource = snapshot.resources.by_group_kind("apiregistration.k8s.io", "APIService");
            let all = resource.map_or(&[][..], |resource| context.of_resource(resource));
            let mut apis = Vec::new();
            for id in all.iter().copied() {
                let Some(facts) = snapshot.facts.api_service(id) else {
                    needs.facts.insert(id);
                    continue;
                };
                if facts.service.is_none() {
                    continue;
                }
                let reach = match facts.available {
                    Some(false) => Reach::Unreachable(Lack::Endpoint),
                    _ => reach(context, facts.service.as_ref(), &mut needs),
                };
                let has_content = snapshot.resources.deletable().any(|(_, resource)| is_content(resource, facts));
                apis.push(Api { service: id, available: facts.available, reach, has_content });
            }
            (apis, needs)
        })
    }
}

fn is_content(resource: &Resource, facts: &ApiServiceFacts) -> bool {
    resource.namespaced && resource.group == facts.group && resource.version == facts.version
}
