# The image of examples/sweep-in-cluster.yaml: the static program that scripts/release builds, and nothing else.
#
#   scripts/release linux-amd64
#   docker build --tag kubectl-gc:0.1.0 .
#
# A builder that doesn't set TARGETARCH needs --build-arg TARGETARCH=amd64.
#
# It trusts the cluster's own certificate authority, which Kubernetes mounts into the pod.
FROM scratch
ARG TARGETARCH
COPY LICENSE /LICENSE
COPY dist/linux-${TARGETARCH}/kubectl-gc /kubectl-gc
USER 65532:65532
ENTRYPOINT ["/kubectl-gc"]
