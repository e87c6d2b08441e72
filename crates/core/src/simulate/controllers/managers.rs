//! Names in managed fields that identify no controller.

/// Names of programs that apply manifests of others, or set them to what a repository says.
pub(super) fn is_applier(manager: &str) -> bool {
    manager.starts_with("pulumi-")
        || matches!(
            manager,
            // What it makes of templates has their finalizers; its own are known.
            "kube-controller-manager"
                | "argocd-controller"
                | "argocd-application-controller"
                | "kustomize-controller"
                | "helm-controller"
                | "flux"
                | "fleetagent"
                | "kapp-server"
                | "Terraform"
                | "HashiCorp"
                | "OpenAPI-Generator"
                | "crossplane-kubernetes-provider"
                | "helm"
        )
}

/// Names of many programs, which nobody has chosen.
pub(super) fn is_default_name(manager: &str) -> bool {
    matches!(manager, "manager" | "controller" | "operator" | "provider" | "main" | "Go-http-client")
}

/// Default manager names of programs and names of people's tools, which identify no controller.
pub(super) fn tells_nobody(manager: &str) -> bool {
    manager.starts_with("kubectl")
        || is_applier(manager)
        || is_default_name(manager)
        || matches!(
            manager,
            "" | "unknown"
                | "curl"
                | "Mozilla"
                | "dashboard"
                | "k9s"
                | "node-fetch"
                | "python-requests"
                | "okhttp"
                | "before-first-apply"
        )
}
