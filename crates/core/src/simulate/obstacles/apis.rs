//! Aggregated APIs, and whether they answer (S11, R9.11).

use crate::{
    model::{Resource, facts::ApiServiceFacts},
    simulate::context::SimContext,
};

use super::{
    backend::reach,
    heeded::{Api, Apis, Lack, Reach},
};

impl Apis {
    pub(crate) fn get(&self, context: &SimContext<'_>) -> &Vec<Api> {
        context.once(&self.0, || {
            let snapshot = context.snapshot;
            let mut apis = Vec::new();
            for id in context.of_resource(context.built_in.api_services).iter().copied() {
                let Some(facts) = context.fact(id, snapshot.facts.api_service(id)) else { continue };
                if facts.service.is_none() {
                    continue;
                }
                let reach = match facts.available {
                    Some(false) => Reach::Unreachable(Lack::Endpoint),
                    _ => reach(context, facts.service.as_ref()),
                };
                let has_content = snapshot.resources.deletable().any(|(_, resource)| is_content(resource, facts));
                apis.push(Api { service: id, available: facts.available, reach, has_content });
            }
            apis
        })
    }
}

fn is_content(resource: &Resource, facts: &ApiServiceFacts) -> bool {
    resource.namespaced && resource.group == facts.group && resource.version == facts.version
}
