//! Aggregated APIs, and whether they answer (S11, R9.11).

use crate::{
    model::{
        Resource,
        facts::{ApiServiceFacts, Backend},
    },
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
                // The API server says that it answers, and knows better what is behind it than a dump without that.
                let reach = match reach {
                    Reach::Unreachable(_) if facts.available == Some(true) => {
                        let service = facts.service.as_ref().and_then(Backend::service).zip(context.built_in.services);
                        let service = service.and_then(|((namespace, name), kind)| {
                            snapshot.look_up_named(kind, namespace, name).object()
                        });
                        service.map_or(Reach::Unknown, |service| Reach::Served { service, pods: Vec::new() })
                    }
                    reach => reach,
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
