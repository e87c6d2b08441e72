//! One row for each rule: a graph, a delete, and the outcome of every object that it changes.

use kubectl_gc::{
    plan::OutcomeKind,
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::Assume,
};

use crate::scene::Scene;

struct Row {
    rule: &'static str,
    graph: &'static str,
    targets: &'static str,
    propagation: Propagation,
    expected: &'static str,
}

const fn row(
    rule: &'static str,
    graph: &'static str,
    targets: &'static str,
    propagation: Propagation,
    expected: &'static str,
) -> Row {
    Row { rule, graph, targets, propagation, expected }
}

const CHAIN: &str = "
    Deployment web
    ReplicaSet rs <- Deployment/web!
    Pod a <- ReplicaSet/rs!
    Pod b <- ReplicaSet/rs!";

const ROWS: &[Row] = &[
    row(
        "R1.11, M1, R0.1 chain",
        CHAIN,
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ReplicaSet/rs Deleted, Pod/a Deleted, Pod/b Deleted",
    ),
    row(
        "R5.3, R5.5, F1, F2, F3, F5 chain",
        CHAIN,
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ReplicaSet/rs Deleted, Pod/a Deleted, Pod/b Deleted",
    ),
    row("R6.2 chain", CHAIN, "Deployment/web", Orphan, "Deployment/web Deleted, ReplicaSet/rs Orphaned"),
    row("R1.13 middle", CHAIN, "ReplicaSet/rs", Background, "ReplicaSet/rs Deleted, Pod/a Deleted, Pod/b Deleted"),
    row(
        "R1.12 foreign finalizer on the target",
        "
        Deployment web fin=acme.io/x
        ReplicaSet rs <- Deployment/web!",
        "Deployment/web",
        Background,
        "Deployment/web Terminating(acme.io/x)",
    ),
    row(
        "R5.8 foreground doesn't wait for the owner's foreign finalizers",
        "
        Deployment web fin=acme.io/x
        ReplicaSet rs <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Terminating(acme.io/x), ReplicaSet/rs Deleted",
    ),
    row(
        "R5.1 blocking dependent with a foreign finalizer",
        "
        Deployment web
        ReplicaSet rs fin=acme.io/x <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Terminating(foregroundDeletion), ReplicaSet/rs Terminating(acme.io/x)",
    ),
    row(
        "R5.2 false and unset do not block",
        "
        Deployment web
        ReplicaSet rs fin=acme.io/x <- Deployment/web~
        ReplicaSet rt fin=acme.io/x <- Deployment/web",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ReplicaSet/rs Terminating(acme.io/x), ReplicaSet/rt Terminating(acme.io/x)",
    ),
    row(
        "M2 orphan finalizer on the child",
        "
        Deployment web
        ReplicaSet rs fin=orphan <- Deployment/web!
        Pod a <- ReplicaSet/rs!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ReplicaSet/rs Deleted, Pod/a Orphaned",
    ),
    row(
        "M3 foreground finalizer on the child",
        "
        Deployment web
        ReplicaSet rs fin=foregroundDeletion <- Deployment/web!
        Pod a fin=acme.io/x <- ReplicaSet/rs!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ReplicaSet/rs Terminating(foregroundDeletion), Pod/a Terminating(acme.io/x)",
    ),
    row(
        "M4, R4.4 foreign finalizer on the child",
        "
        Deployment web
        ReplicaSet rs fin=acme.io/x <- Deployment/web!
        Pod a <- ReplicaSet/rs!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ReplicaSet/rs Terminating(acme.io/x)",
    ),
    row(
        "M5 foreground overrides the child's orphan finalizer",
        "
        Deployment web
        ReplicaSet rs fin=orphan <- Deployment/web!
        Pod a <- ReplicaSet/rs!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ReplicaSet/rs Deleted, Pod/a Deleted",
    ),
    row(
        "M6 orphan finalizer without dependents",
        "
        Deployment web
        ReplicaSet rs fin=orphan <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ReplicaSet/rs Deleted",
    ),
    row(
        "M8 foreign finalizer on the child",
        "
        Deployment web
        ReplicaSet rs fin=acme.io/x <- Deployment/web!
        Pod a <- ReplicaSet/rs!",
        "Deployment/web",
        Foreground,
        "Deployment/web Terminating(foregroundDeletion), ReplicaSet/rs Terminating(acme.io/x), Pod/a Deleted",
    ),
    row(
        "M9, R5.4 solid second owner",
        "
        Deployment web
        Deployment api
        ConfigMap shared <- Deployment/web! Deployment/api!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ConfigMap/shared Detached",
    ),
    row(
        "M10 solid second owner",
        "
        Deployment web
        Deployment api
        ConfigMap shared <- Deployment/web Deployment/api",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ConfigMap/shared Detached",
    ),
    row(
        "M11 absent second owner",
        "
        Deployment web
        ConfigMap shared <- Deployment/web! Deployment/gone",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ConfigMap/shared Deleted",
    ),
    row(
        "M12 a second owner on its way out is solid",
        "
        Deployment web
        Deployment api T=0 fin=acme.io/x
        ConfigMap shared <- Deployment/web Deployment/api",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ConfigMap/shared Detached",
    ),
    row(
        "M13 a second owner that waits for its dependents",
        "
        Deployment web
        Deployment api T=0 fin=foregroundDeletion
        Pod p T=30 node=n1 <- Deployment/api!
        ConfigMap shared <- Deployment/web Deployment/api",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ConfigMap/shared Deleted",
    ),
    row(
        "M19 a second owner that is a child of the target",
        "
        Deployment web
        ReplicaSet s <- Deployment/web!
        ConfigMap c <- Deployment/web! ReplicaSet/s!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ReplicaSet/s Deleted, ConfigMap/c Deleted",
    ),
    row(
        "both owners at once",
        "
        Deployment web
        Deployment api
        ConfigMap shared <- Deployment/web Deployment/api",
        "Deployment/web Deployment/api",
        Background,
        "Deployment/web Deleted, Deployment/api Deleted, ConfigMap/shared Deleted",
    ),
    row(
        "M16, R6.5 orphan frees terminating dependents too",
        "
        Deployment web
        ReplicaSet rs T=0 fin=acme.io/x <- Deployment/web!",
        "Deployment/web",
        Orphan,
        "Deployment/web Deleted, ReplicaSet/rs Terminating(acme.io/x)",
    ),
    row(
        "M17, S3, G1 a dependent that was already terminating is not touched",
        "
        Deployment web
        ReplicaSet rs T=0 fin=acme.io/x <- Deployment/web!
        Pod a <- ReplicaSet/rs!",
        "Deployment/web",
        Foreground,
        "Deployment/web Terminating(foregroundDeletion)",
    ),
    row(
        "M20, R4.7 CronJob's shape: a Job's own default plays no part",
        "
        Deployment web
        Job j <- Deployment/web!
        Pod a <- Job/j!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, Job/j Deleted, Pod/a Deleted",
    ),
    row(
        "R1.21 background releases a foreground deadlock",
        "
        Shop a T=0 fin=foregroundDeletion <- Shop/a!",
        "Shop/a",
        Background,
        "Shop/a Deleted",
    ),
    row(
        "R1.46, R5.15 foreground held by a foreign finalizer, then background: solid again, dependents left alone",
        "
        Shop a T=0 fin=acme.io/x,foregroundDeletion
        ConfigMap c T=0 fin=acme.io/y <- Shop/a!
        ConfigMap d fin=acme.io/y <- Shop/a",
        "Shop/a",
        Background,
        "Shop/a Terminating(acme.io/x)",
    ),
    row(
        "R1.46 foreground added to a terminating object",
        "
        Shop a T=0 fin=acme.io/x
        ConfigMap c <- Shop/a!",
        "Shop/a",
        Foreground,
        "ConfigMap/c Deleted",
    ),
    row(
        "R1.46 foreground turned to orphan",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap c T=0 fin=acme.io/y <- Shop/a!
        ConfigMap d <- Shop/a",
        "Shop/a",
        Orphan,
        "Shop/a Deleted, ConfigMap/c Terminating(acme.io/y), ConfigMap/d Orphaned",
    ),
    row(
        "R1.15 a pod in its grace period blocks until the kubelet ends it",
        "
        Node n1
        ReplicaSet rs
        Pod a node=n1 <- ReplicaSet/rs!",
        "ReplicaSet/rs",
        Foreground,
        "ReplicaSet/rs Deleted, Pod/a Deleted",
    ),
    row(
        "R9.7 no kubelet: the node doesn't exist",
        "
        ReplicaSet rs
        Pod a node=n1 <- ReplicaSet/rs!",
        "ReplicaSet/rs",
        Foreground,
        "ReplicaSet/rs Deleted, Pod/a Deleted",
    ),
    row(
        "R9.7 pods of a deleted Node, with what they own and what protects it",
        "
        Node n1
        Node n2
        ReplicaSet rs
        Pod a node=n1 claim=a-scratch <- ReplicaSet/rs!
        PersistentVolumeClaim a-scratch fin=kubernetes.io/pvc-protection <- Pod/a+!
        Pod b node=n1 fin=acme.io/x
        Pod c node=n2
        Pod d node=elsewhere",
        "Node/n1",
        Background,
        "Node/n1 Deleted, Pod/a Deleted, PersistentVolumeClaim/a-scratch Deleted, Pod/b Terminating(acme.io/x)",
    ),
    row(
        "R9.7 a Node that stays terminating keeps its pods",
        "
        Node n1 fin=acme.io/x
        Pod a node=n1",
        "Node/n1",
        Background,
        "Node/n1 Terminating(acme.io/x)",
    ),
    row(
        "R9.7 a Job's pod on a deleted Node",
        "
        Node n1
        Job j
        Pod a node=n1 fin=batch.kubernetes.io/job-tracking <- Job/j+!",
        "Node/n1",
        Background,
        "Node/n1 Deleted, Pod/a Deleted",
    ),
    row(
        "R1.17 a second delete of a pod in grace changes nothing",
        "
        Pod a node=n1 T=30
        ConfigMap c <- Pod/a!",
        "Pod/a",
        Foreground,
        "",
    ),
    row(
        "B1, R0.1 owner in another namespace: blocks by uid, dangles by coordinates",
        "
        Deployment web
        ConfigMap other:c <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ConfigMap/c Deleted",
    ),
    row(
        "B1 owner in another namespace is freed by orphaning",
        "
        Deployment web
        ConfigMap other:c <- Deployment/web!",
        "Deployment/web",
        Orphan,
        "Deployment/web Deleted, ConfigMap/c Orphaned",
    ),
    row(
        "S5, B2, L3 cluster-scoped dependent of a namespaced owner blocks for ever",
        "
        Deployment web
        ClusterRole c <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Terminating(foregroundDeletion)",
    ),
    row(
        "R5.16, B2 leak: cluster-scoped dependent of a namespaced owner",
        "
        Deployment web
        ClusterRole c <- Deployment/web!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted",
    ),
    row(
        "B8 cluster-scoped owner of a namespaced dependent is fine",
        "
        Region eu
        ConfigMap c <- Region/eu!",
        "Region/eu",
        Foreground,
        "Region/eu Deleted, ConfigMap/c Deleted",
    ),
    row(
        "B3 wrong name",
        "
        Deployment web
        ConfigMap c <- Deployment/web@name=wob!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted, ConfigMap/c Deleted",
    ),
    row(
        "B4, L7 served, not preferred version",
        "
        Shop a
        ConfigMap c fin=acme.io/x <- Shop/a@version=acme.io/v1alpha1!",
        "Shop/a",
        Foreground,
        "Shop/a Terminating(foregroundDeletion), ConfigMap/c Terminating(acme.io/x)",
    ),
    row(
        "S4, B5 unserved version blocks for ever",
        "
        Shop a
        ConfigMap c <- Shop/a@version=acme.io/v9!",
        "Shop/a",
        Foreground,
        "Shop/a Terminating(foregroundDeletion)",
    ),
    row(
        "B5 unserved version is freed by orphaning",
        "
        Shop a
        ConfigMap c <- Shop/a@version=acme.io/v9!",
        "Shop/a",
        Orphan,
        "Shop/a Deleted, ConfigMap/c Orphaned",
    ),
    row(
        "R8.9 an object with an unmappable reference is still queued, and goes when that reference does",
        "
        Shop a
        ConfigMap c <- Shop/a@version=acme.io/v9! ConfigMap/gone",
        "Shop/a",
        Orphan,
        "Shop/a Deleted, ConfigMap/c Deleted",
    ),
    row(
        "B6, L6 predecessor's uid is no edge",
        "
        Shop a
        ConfigMap c <- Shop/a@uid=before!",
        "Shop/a",
        Foreground,
        "Shop/a Deleted",
    ),
    row(
        "R3.15 lower-case kind maps",
        "
        Shop a
        ConfigMap c <- Shop/a@kind=shop!",
        "Shop/a",
        Foreground,
        "Shop/a Deleted, ConfigMap/c Deleted",
    ),
    row(
        "R3.15 a list kind dangles",
        "
        Shop a
        Shop b
        ConfigMap c <- Shop/a@kind=ShopList! Shop/b",
        "Shop/a",
        Foreground,
        "Shop/a Deleted, ConfigMap/c Detached",
    ),
    row(
        "R3.15 upper-case kind is unmappable",
        "
        Shop a
        ConfigMap c <- Shop/a@kind=SHOP!",
        "Shop/a",
        Foreground,
        "Shop/a Terminating(foregroundDeletion)",
    ),
    row(
        "R4.8, B7 a strip drops every reference of the uid",
        "
        Shop a
        ConfigMap c <- Shop/a Shop/a@name=b
        Shop p
        ConfigMap d <- Shop/p! Shop/a Shop/a@name=b",
        "Shop/p",
        Background,
        "Shop/p Deleted, ConfigMap/d Orphaned",
    ),
    row(
        "R8.8 nothing is swept that the delete's events don't reach",
        "
        Shop a
        ConfigMap c <- Shop/gone
        ConfigMap d <- Shop/a",
        "Shop/a",
        Background,
        "Shop/a Deleted, ConfigMap/d Deleted",
    ),
    row(
        "R5.9 background takes a whole cycle",
        "
        Shop a <- Shop/b!
        Shop b <- Shop/a!",
        "Shop/a",
        Background,
        "Shop/a Deleted, Shop/b Deleted",
    ),
    row(
        "R5.10 foreground takes a whole cycle",
        "
        Shop a <- Shop/c!
        Shop b <- Shop/a!
        Shop c <- Shop/b!",
        "Shop/a",
        Foreground,
        "Shop/a Deleted, Shop/b Deleted, Shop/c Deleted",
    ),
    row(
        "R5.12 a cycle below the root lives on, stripped",
        "
        Shop root
        Shop a <- Shop/root! Shop/b!
        Shop b <- Shop/a!",
        "Shop/root",
        Background,
        "Shop/root Deleted, Shop/a Detached",
    ),
    row(
        "R5.13 self-owner, foreground",
        "Shop a <- Shop/a!",
        "Shop/a",
        Foreground,
        "Shop/a Terminating(foregroundDeletion)",
    ),
    row("R5.13 self-owner, background", "Shop a <- Shop/a!", "Shop/a", Background, "Shop/a Deleted"),
    row(
        "R5.14 both members in the foreground",
        "
        Shop a <- Shop/b!
        Shop b <- Shop/a!",
        "Shop/a Shop/b",
        Foreground,
        "Shop/a Terminating(foregroundDeletion), Shop/b Terminating(foregroundDeletion)",
    ),
    row(
        "R1.25 a namespace takes its content, pods first",
        "
        Namespace ns
        Pod a <- ReplicaSet/rs!
        ReplicaSet rs
        ConfigMap other:c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted, Pod/a Deleted, ReplicaSet/rs Deleted",
    ),
    row(
        "R1.25 orphaning a namespace saves nothing of its content",
        "
        Namespace ns
        ConfigMap c <- Namespace/ns",
        "Namespace/ns",
        Orphan,
        "Namespace/ns Deleted, ConfigMap/c Deleted",
    ),
    row(
        "S16 a finalizer in its content holds a namespace",
        "
        Namespace ns
        ConfigMap c fin=acme.io/x
        ConfigMap d",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating(), ConfigMap/c Terminating(acme.io/x), ConfigMap/d Deleted",
    ),
    row(
        "R1.25 no controller empties a namespace that has nothing in its spec.finalizers",
        "
        Namespace ns spec=-
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating()",
    ),
    row(
        "R1.25 and a second delete removes it",
        "
        Namespace ns spec=- T
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted",
    ),
    row(
        "R9.11 what nobody can convert keeps a namespace, and not what can be read in it",
        "
        unconverted Shop
        Namespace ns
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating()?, ConfigMap/c Deleted",
    ),
    row(
        "R1.26 the clean-up of a definition can't read what nobody can convert",
        "
        unconverted Shop
        CustomResourceDefinition Shop",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Terminating(customresourcecleanup.apiextensions.k8s.io)?",
    ),
    row(
        "R1.26 the clean-up of a definition is at work before the namespace controller is",
        "
        Namespace ns
        CustomResourceDefinition Shop
        Shop a fin=orphan
        ConfigMap other:c <- Shop/a",
        "Namespace/ns CustomResourceDefinition/Shop",
        Background,
        "Namespace/ns Deleted, CustomResourceDefinition/Shop Deleted, Shop/a Deleted, ConfigMap/c Orphaned",
    ),
    row(
        "R1.26 a definition that was terminating before goes with its last instance",
        "
        CustomResourceDefinition Shop T fin=customresourcecleanup.apiextensions.k8s.io
        Shop w T fin=foregroundDeletion
        ConfigMap c T fin=acme.io/x <- Shop/w!",
        "Shop/w",
        Background,
        "CustomResourceDefinition/Shop Deleted, Shop/w Deleted",
    ),
    row(
        "R9.8 a terminating Job's pods lose the Job controller's finalizer",
        "
        Node n1
        Job j fin=acme.io/x
        Job other
        Pod a node=n1 fin=batch.kubernetes.io/job-tracking <- Job/j+!
        Pod b node=n1 fin=batch.kubernetes.io/job-tracking <- Job/other+!",
        "Job/j",
        Background,
        "Job/j Terminating(acme.io/x), Pod/a Unchanged",
    ),
    row(
        "R9.10 as long as a pod stays, nothing else is tried",
        "
        Namespace ns
        Pod a fin=acme.io/x
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating(), Pod/a Terminating(acme.io/x)",
    ),
    row(
        "R1.26 instances of a definition that was never established are somebody else's",
        "
        CustomResourceDefinition Shop spec=-
        Shop a",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Deleted",
    ),
    row(
        "R9.9 namespaces that wait side by side come to rest",
        "
        Namespace ns
        Namespace other
        ConfigMap a fin=acme.io/x
        Secret b fin=acme.io/x
        ConfigMap other:c fin=acme.io/x
        Secret other:d fin=acme.io/x",
        "Namespace/ns Namespace/other",
        Background,
        "Namespace/ns Terminating(), Namespace/other Terminating(), ConfigMap/a Terminating(acme.io/x), Secret/b \
            Terminating(acme.io/x), \
         ConfigMap/c Terminating(acme.io/x), Secret/d Terminating(acme.io/x)",
    ),
    row(
        "R9.9 what a namespace takes that was being deleted before is not this delete's doing",
        "
        Namespace ns T
        CustomResourceDefinition Shop
        Shop other:a
        Shop b
        ConfigMap c",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Deleted, Shop/a Deleted",
    ),
    row(
        "R1.26, M24 a definition takes its instances, whatever the policy",
        "
        CustomResourceDefinition Shop
        Shop a
        ConfigMap c <- Shop/a",
        "CustomResourceDefinition/Shop",
        Orphan,
        "CustomResourceDefinition/Shop Deleted, Shop/a Deleted, ConfigMap/c Deleted",
    ),
    row(
        "R1.26 an instance's own orphan finalizer is honoured",
        "
        CustomResourceDefinition Shop
        Shop a fin=orphan
        ConfigMap c <- Shop/a",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Deleted, Shop/a Deleted, ConfigMap/c Orphaned",
    ),
    row(
        "R9.15 a claim goes when no pod uses it",
        "
        PersistentVolumeClaim data fin=kubernetes.io/pvc-protection",
        "PersistentVolumeClaim/data",
        Background,
        "PersistentVolumeClaim/data Deleted",
    ),
    row(
        "R9.15 a claim stays while a scheduled pod uses it",
        "
        Node n1
        Pod a node=n1 claim=data
        PersistentVolumeClaim data fin=kubernetes.io/pvc-protection",
        "PersistentVolumeClaim/data",
        Background,
        "PersistentVolumeClaim/data Terminating(kubernetes.io/pvc-protection)",
    ),
    row(
        "S14 pod and claim wait for each other",
        "
        Node n1
        Pod a node=n1 claim=data
        PersistentVolumeClaim data fin=kubernetes.io/pvc-protection <- Pod/a!",
        "Pod/a",
        Foreground,
        "Pod/a Terminating(foregroundDeletion), PersistentVolumeClaim/data Terminating(kubernetes.io/pvc-protection)",
    ),
    row(
        "R10.2, L5 forbidden is not absent",
        "
        unread Secret
        Shop a
        ConfigMap c <- Shop/a Secret/s",
        "Shop/a",
        Background,
        "Shop/a Deleted, ConfigMap/c Unchanged?",
    ),
    row(
        "R2.7 an owner that no informer sees is looked up",
        "
        Shop a
        Hidden h
        ConfigMap c <- Shop/a Hidden/h",
        "Shop/a",
        Background,
        "Shop/a Deleted, ConfigMap/c Detached",
    ),
    row(
        "S10 foreground of a kind that no informer sees never ends",
        "
        Hidden h
        ConfigMap c <- Hidden/h!",
        "Hidden/h",
        Foreground,
        "Hidden/h Terminating(foregroundDeletion)",
    ),
    row(
        "R2.7, R3.3 its disappearance is noticed",
        "
        Hidden h
        ConfigMap c <- Hidden/h!",
        "Hidden/h",
        Background,
        "Hidden/h Deleted, ConfigMap/c Deleted",
    ),
    row(
        "R2.7, R3.2 a cluster-scoped object that no informer sees has its owners looked for where its dependent is",
        "
        ConfigMap o
        HiddenRegion h <- ConfigMap/o
        Secret s <- HiddenRegion/h",
        "ConfigMap/o",
        Background,
        "ConfigMap/o Deleted, HiddenRegion/h Deleted, Secret/s Deleted",
    ),
    row(
        "R2.7, 3.4 and nowhere if its dependent is cluster-scoped, too",
        "
        ConfigMap o
        HiddenRegion h <- ConfigMap/o
        Region r <- HiddenRegion/h",
        "ConfigMap/o",
        Background,
        "ConfigMap/o Deleted",
    ),
    row(
        "R9.10 a pod that was terminating before holds its namespace until the kubelet ends it",
        "
        Node n1
        Namespace ns
        Pod a node=n1 T=30
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted, ConfigMap/c Deleted",
    ),
    row(
        "R9.15 a claim that was hanging goes with the pod that used it, and the namespace after it",
        "
        Node n1
        Namespace ns
        Pod a node=n1 claim=data
        PersistentVolumeClaim data T=0 fin=kubernetes.io/pvc-protection
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted, Pod/a Deleted, PersistentVolumeClaim/data Deleted, ConfigMap/c Deleted",
    ),
    row(
        "R9.15 a claim that was hanging goes with the pod that used it",
        "
        Node n1
        Pod a node=n1 claim=data
        PersistentVolumeClaim data T=0 fin=kubernetes.io/pvc-protection",
        "Pod/a",
        Background,
        "Pod/a Deleted, PersistentVolumeClaim/data Deleted",
    ),
    row(
        "M18 what goes on its own is waited for, and not told as this delete's doing",
        "
        Node n1
        Shop r
        Shop a T=0 fin=foregroundDeletion <- Shop/r!
        Shop b T=0 fin=foregroundDeletion <- Shop/a!
        Pod p node=n1 T=30 <- Shop/b!",
        "Shop/r",
        Foreground,
        "Shop/r Deleted",
    ),
    row(
        "M23 a terminating namespace dissolves foreground deadlocks by itself",
        "
        Namespace ns T
        Shop a T=0 fin=foregroundDeletion <- Shop/a!",
        "Shop/a",
        Background,
        "Shop/a Deleted",
    ),
    row(
        "S14 the claim of an ephemeral volume is let go when the pod has been shut down",
        "
        Node n1
        ReplicaSet rs
        Pod a node=n1 claim=a-scratch <- ReplicaSet/rs!
        PersistentVolumeClaim a-scratch fin=kubernetes.io/pvc-protection <- Pod/a+!",
        "ReplicaSet/rs",
        Foreground,
        "ReplicaSet/rs Deleted, Pod/a Deleted, PersistentVolumeClaim/a-scratch Deleted",
    ),
    row(
        "S16, R9.12 another of a namespace's spec.finalizers stays",
        "
        Namespace ns spec=acme.io/x
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating(), ConfigMap/c Deleted",
    ),
    row(
        "R10.2 a namespace may hold what could not be listed",
        "
        unread Secret
        Namespace ns
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted?, ConfigMap/c Deleted",
    ),
    row(
        "R10.2 a definition may have instances that could not be listed",
        "
        unread Shop
        CustomResourceDefinition Shop",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Deleted?",
    ),
    row(
        "R10.2 hidden dependents may hold whoever is deleted for a waiting owner",
        "
        unread Secret
        Deployment web
        ReplicaSet rs <- Deployment/web!",
        "Deployment/web",
        Foreground,
        "Deployment/web Deleted?, ReplicaSet/rs Deleted?",
    ),
    row(
        "R10.2 background deletes nothing that hidden dependents could hold",
        "
        unread Secret
        Deployment web
        ReplicaSet rs <- Deployment/web!",
        "Deployment/web",
        Background,
        "Deployment/web Deleted, ReplicaSet/rs Deleted",
    ),
    row(
        "R10.2 whether a pod's node exists could not be read",
        "
        unread Node
        ReplicaSet rs
        Pod a node=n1 <- ReplicaSet/rs!",
        "ReplicaSet/rs",
        Background,
        "ReplicaSet/rs Deleted, Pod/a Deleted?",
    ),
    row(
        "R10.2 doubt travels to whoever waits, and to what follows",
        "
        Node n1
        ReplicaSet rs
        Pod a node=? <- ReplicaSet/rs!
        ConfigMap c <- Pod/a",
        "ReplicaSet/rs",
        Foreground,
        "ReplicaSet/rs Deleted?, Pod/a Deleted?, ConfigMap/c Deleted?",
    ),
    row(
        "R10.2 doubt about a pod is doubt about all of its namespace",
        "
        Node n1
        Namespace ns
        Pod a node=?
        ConfigMap c",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted?, Pod/a Deleted?, ConfigMap/c Deleted?",
    ),
];

/// Whether a remaining object is stuck, and what it waits for: this decides the exit code.
#[test]
fn what_stays_is_stuck_or_waits() {
    let rows: &[(&str, &str, &str, Propagation, &str, &str)] = &[
        ("nobody is known to remove it", "Shop a fin=acme.io/x", "Shop/a", Background, "stuck", ""),
        (
            "its controller usually runs",
            "Shop a fin=resources-finalizer.argocd.argoproj.io",
            "Shop/a",
            Background,
            "unknown",
            "",
        ),
        (
            "R9.15 a running pod uses it",
            "
            Node n1
            Pod a node=n1 claim=data
            PersistentVolumeClaim data fin=kubernetes.io/pvc-protection",
            "PersistentVolumeClaim/data",
            Background,
            "waiting",
            "Pod/a",
        ),
        (
            "S4 nobody will ever delete what it waits for",
            "
            Shop a
            ConfigMap c <- Shop/a@version=acme.io/v9!",
            "Shop/a",
            Foreground,
            "stuck",
            "ConfigMap/c",
        ),
        ("S6 it waits for itself", "Shop a <- Shop/a!", "Shop/a", Foreground, "stuck", "Shop/a"),
        ("R1.25 nobody looks at it any more", "Namespace ns spec=-", "Namespace/ns", Background, "stuck", ""),
        (
            "S16 it has another in its spec.finalizers",
            "Namespace ns spec=acme.io/x",
            "Namespace/ns",
            Background,
            "stuck",
            "",
        ),
        (
            "R9.10 its pod comes first",
            "
            Namespace ns
            Pod a fin=acme.io/x
            ConfigMap c fin=acme.io/x",
            "Namespace/ns",
            Background,
            "stuck",
            "Pod/a",
        ),
        (
            "each once",
            "
            Namespace ns
            ConfigMap c fin=acme.io/x <- Namespace/ns!",
            "Namespace/ns",
            Foreground,
            "stuck",
            "ConfigMap/c",
        ),
    ];
    for (rule, graph, targets, propagation, state, waits_for) in rows {
        let scene = Scene::new(graph);
        let plan = scene.plan_with(targets, *propagation, Assume::Known);
        let outcome = plan.outcomes.iter().find(|outcome| outcome.kind == OutcomeKind::Terminating).expect(rule);
        let waited: Vec<String> = outcome.waits_for.iter().map(|id| scene.snapshot.short_name(*id)).collect();
        assert_eq!(outcome.state.map(|state| state.name()), Some(*state), "{rule}");
        assert_eq!(waited.join(" "), *waits_for, "{rule}");
        assert_eq!(plan.stuck(), *state == "stuck", "{rule}");
    }
}

#[test]
fn every_rule_has_its_outcome() {
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|row| {
            let describe = Scene::new(row.graph).tell(row.targets, row.propagation);
            (describe != row.expected)
                .then(|| format!("{}\n  expected {}\n  but got  {describe}", row.rule, row.expected))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}
