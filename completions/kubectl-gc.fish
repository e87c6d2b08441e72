# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_gc_global_optspecs
    string join \n V/version color= n/namespace= context= kubeconfig= cluster= user= s/server= token= username= password= as= as-group= as-uid= certificate-authority= client-certificate= client-key= insecure-skip-tls-verify= tls-server-name= request-timeout= disable-compression= warnings-as-errors cache-dir= v/v= h/help
end

function __fish_kubectl_gc_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_gc_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_gc_using_subcommand
    set -l cmd (__fish_kubectl_gc_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "tree" -d 'Show owners and dependents as a tree'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "plan" -d 'Predict what a delete does to every object, and why'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "delete" -d 'Show the plan, ask, delete, and follow the cascade to its end'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "archive" -d 'Write the objects a delete would remove into a file'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "restore" -d 'Restore archived objects'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "sweep" -d 'Do the garbage collector\'s work: one pass, or --watch'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "doctor" -d 'Find problems with owners and deletions, and how to fix them'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "explain" -d 'Explain one object: owners, what it waits for, what is next'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "watch" -d 'Tell what goes and why, while it happens'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "resources" -d 'List deletable resources, and which the collector watches'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "snapshot" -d 'Write the cluster\'s metadata into a file for --from'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "completion" -d 'Print the completion script for a shell'
complete -c kubectl-gc -n "__fish_kubectl_gc_needs_command" -f -a "version" -d 'Print the version'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l depth -d 'Show at most this many levels below (or above) each target' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l include-types -d 'Show only objects of these types, and what leads to them; TARGETs in any case' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l exclude-types -d 'Leave out objects of these types, and what is below them only' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'TYPE/NAME, one per line'
dot\t'For Graphviz'
wide\t'Text with more columns'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l owners -d 'Show owners upwards instead of dependents downwards'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l no-fold -d 'Show every object instead of folding many similar ones into one line'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand tree" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l propagation -d 'How the delete treats dependents [default: background]' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l cascade -d 'kubectl\'s name for --propagation' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l grace-period -d 'Grace period of pods in seconds; negative: the pod\'s own' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l keep -d 'Keep these dependents: TYPE/NAME, TYPE, or labels (-l LABELS or LABELS); their references to deleted owners are removed first; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l deny -d 'Do nothing and exit with code 2 if any object of these types would be deleted' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l deny-effect -d 'Do nothing and exit with code 2 if the delete has such an effect, or may have: data-loss (stored data is destroyed), external (a load balancer, a cloud\'s resource, what an add-on manages), unknown' -r -f -a "data-loss\t'Stored data is destroyed'
external\t'Something outside the owner graph is deleted'
unknown\t'The effect is not known'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l max -d 'Do nothing and exit with code 2 if more objects than this would be deleted, not counting events' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l fail-on -d 'Do nothing and exit with code 2 for this verdict or a worse one: stuck, waits (for a controller) or unsure' -r -f -a "stuck\t'Something stays Terminating, and no controller is known to finish it'
waits\t'Something stays Terminating'
unsure\t'Something is not certain'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l assume -d 'What other controllers are assumed to do: known ones remove their finalizers, or none does' -r -f -a "known\t'Known controllers do what they are known to do'
none\t'No other controller does anything'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'TYPE/NAME of the objects that would be deleted, one per line'
wide\t'Text with more columns'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l now -d 'A grace period of one second'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l force -d 'No grace period: remove pods at once'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l propagation -d 'How the delete treats dependents [default: background]' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l cascade -d 'kubectl\'s name for --propagation' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l grace-period -d 'Grace period of pods in seconds; negative: the pod\'s own' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l keep -d 'Keep these dependents: TYPE/NAME, TYPE, or labels (-l LABELS or LABELS); their references to deleted owners are removed first; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l deny -d 'Do nothing and exit with code 2 if any object of these types would be deleted' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l deny-effect -d 'Do nothing and exit with code 2 if the delete has such an effect, or may have: data-loss (stored data is destroyed), external (a load balancer, a cloud\'s resource, what an add-on manages), unknown' -r -f -a "data-loss\t'Stored data is destroyed'
external\t'Something outside the owner graph is deleted'
unknown\t'The effect is not known'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l max -d 'Do nothing and exit with code 2 if more objects than this would be deleted, not counting events' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l fail-on -d 'Do nothing and exit with code 2 for this verdict or a worse one: stuck, waits (for a controller) or unsure' -r -f -a "stuck\t'Something stays Terminating, and no controller is known to finish it'
waits\t'Something stays Terminating'
unsure\t'Something is not certain'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l dry-run -d 'Only show what would happen; `server` also sends the requests to the API server as a dry run' -r -f -a "none\t'Do it'
client\t'Only show what would happen'
server\t'Send the requests to the API server as a dry run'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l confirm-above -d 'Confirm by typing the number of objects if there are more than this' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l archive -d 'Write all objects to be deleted into FILE (.yaml or .yaml.gz) before anything is deleted' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l allow-incomplete -d 'Delete even if something that could not be read may change the outcome; TYPEs allow only these to be unread' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l wait -d 'Follow the cascade to its end; --wait=false only sends the deletes' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l timeout -d 'How long to follow the cascade, as in kubectl (30s, 5m); 0: to the end' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l assume -d 'What other controllers are assumed to do: known ones remove their finalizers, or none does' -r -f -a "known\t'Known controllers do what they are known to do'
none\t'No other controller does anything'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'TYPE/NAME of the objects that would be deleted, one per line'
wide\t'Text with more columns'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l now -d 'A grace period of one second'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l force -d 'No grace period: remove pods at once'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s y -l yes -d 'Do not ask'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l ignore-not-found -d 'Ignore TARGETs that do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s i -l interactive -d 'Ask before anything is deleted: that is so without --yes'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l propagation -d 'How the delete treats dependents [default: background]' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l cascade -d 'kubectl\'s name for --propagation' -r -f -a "background\t'Owner first, then the dependents'
foreground\t'Dependents first, then the owner'
orphan\t'Only the owner; keep the dependents'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l assume -d 'What other controllers are assumed to do: known ones remove their finalizers, or none does' -r -f -a "known\t'Known controllers do what they are known to do'
none\t'No other controller does anything'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l allow-incomplete -d 'Archive even if deleted objects could not all be read, and say so in the archive; TYPEs allow only these' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand archive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l namespace-map -d 'Restore what was in namespace OLD into NEW; may be repeated. With one namespace, -n NEW does the same' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l dry-run -d 'Only show what would happen; `server` also sends the requests to the API server as a dry run' -r -f -a "none\t'Do it'
client\t'Only show what would happen'
server\t'Send the requests to the API server as a dry run'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
wide\t'Text with the names of all objects'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l all -d 'Also restore objects that a restored controller recreates'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l cluster-scoped -d 'With -n or --namespace-map: also restore what is cluster-scoped, under the same names'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s y -l yes -d 'Do not ask'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l timeout -d 'How long to continue, as in kubectl (30s, 5m); 0: to the end' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l assume -d 'What other controllers are assumed to do: known ones remove their finalizers, or none does' -r -f -a "known\t'Known controllers do what they are known to do'
none\t'No other controller does anything'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'TYPE/NAME of the objects that would be deleted, one per line'
wide\t'Text with more columns'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l resync -d 'How often to look for new and removed resources' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l metrics-bind-address -d 'Serve /metrics, /healthz and /readyz on this address: :8080, 127.0.0.1:8080; port 0 chooses a free port and prints it [default: not served]' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l workers -d 'How many objects to process at once' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l qps -d 'Limit of requests per second; 0: no limit. Watches do not count' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l burst -d 'How many requests may be sent at once after a pause' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l dry-run -d 'Only show what would happen'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s y -l yes -d 'Do not ask; --watch never asks'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l trust-missing-apis -d 'Treat the objects of an API that answers 404 as absent, as the collector does; without it they are unknown'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l print-role -d 'Print the ClusterRole that a sweep needs (with --watch: that of --watch); needs no cluster'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s w -l watch -d 'Continue like the controller, until SIGTERM or Ctrl-C'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l only -d 'Report only findings with these codes (see --list-codes)' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l interval -d 'Seconds between two looks of --watch' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l fail-on -d 'Exit with code 2 for findings of at least this severity' -r -f -a "error\t''
warning\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'TYPE/NAME of the affected objects, one per line'
wide\t'Text with more columns'
oneline\t'A line for each finding, for grep'
remedies\t'A shell script of all fixes; read it before you run it'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l probe -d 'Test whether a collector is running: create a ConfigMap and delete it'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s w -l watch -d 'Keep looking, and print whenever something changes'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l list-codes -d 'Print every code with its severity and meaning; needs no cluster'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
wide\t'Text with rules, uids and all remedies'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s l -l selector -d 'Objects of the TYPE whose labels match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l field-selector -d 'Objects of the TYPE whose fields match, as in kubectl' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s f -l filename -d 'The objects named in a manifest: a file, a pattern such as \'*.yaml\', a folder or -; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s k -l kustomize -d 'The objects that kubectl kustomize makes of a folder' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l timeout -d 'How long to watch, as in kubectl (30s, 5m); 0: until Ctrl-C' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s o -l output -d 'Output format' -r -f -a "json\t'One document per line'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l all -d 'Every object of the TYPE (plan without a TARGET: list all roots, not only the worst)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s R -l recursive -d 'Look for manifests in sub-folders too'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s A -l all-namespaces -d 'In all namespaces'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l until-gone -d 'End once all TARGETs are gone'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''
name\t'Only the names, one per line'
wide\t'All columns, one line per row'"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l from -d 'Read a dump, snapshot or archive, a folder of them, or - (standard input) instead of a cluster; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l count -d 'Count the objects of each resource (reads all of them)'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l assume-complete -d 'Treat the dump as complete: objects that it lacks do not exist'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand resources" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -s o -l output -d 'The file to write, compressed if it ends in .gz [default: standard output]' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l force -d 'Replace an existing file without asking'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l print-role -d 'Only print the least rights that this command needs with these arguments, as YAML for kubectl apply'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l color -d 'Colour the output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t''
never\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -s n -l namespace -d 'The namespace; without it the context\'s' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l username -d 'User name for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l password -d 'Password for basic authentication' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l as -d 'The user to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: this is insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l tls-server-name -d 'The name that the server\'s certificate is checked for' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l request-timeout -d 'How long one request may take: 10s, 2m, 1h; 0 is for ever' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l disable-compression -d 'Don\'t ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l cache-dir -d 'Accepted because kubectl does; nothing is cached' -r -F
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -s v -l v -d 'How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked' -r
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -l warnings-as-errors -d 'Exit with 1 if the server has sent a warning, after all else is done'
complete -c kubectl-gc -n "__fish_kubectl_gc_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
