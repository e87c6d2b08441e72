
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-gc' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-gc'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-gc' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Who owns whom: dependents down, owners up')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'What a delete would do to every object, and why')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'What one pass of the collector would do (--dry-run)')
            [CompletionResult]::new('resources', 'resources', [CompletionResultType]::ParameterValue, 'What can be deleted, and what of that the collector watches')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'Write the cluster''s metadata into one file, for --from')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-gc;tree' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--field-selector', '--field-selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose fields match, as in kubectl')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--depth', '--depth', [CompletionResultType]::ParameterName, 'Show at most this many levels below (or above) each target')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read a dump or snapshot file, a folder of them or - (standard input) instead of a cluster; may be repeated')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every object of the TYPE; without a TARGET: list all, not only the worst')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--owners', '--owners', [CompletionResultType]::ParameterName, 'Show owners upwards instead of dependents downwards')
            [CompletionResult]::new('--no-fold', '--no-fold', [CompletionResultType]::ParameterName, 'Show every object, also where many alike are folded into one line')
            [CompletionResult]::new('--assume-complete', '--assume-complete', [CompletionResultType]::ParameterName, 'The dump is everything there is: what it lacks does not exist')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;plan' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--field-selector', '--field-selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose fields match, as in kubectl')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--propagation', '--propagation', [CompletionResultType]::ParameterName, 'How the delete treats dependents [default: background]')
            [CompletionResult]::new('--cascade', '--cascade', [CompletionResultType]::ParameterName, 'kubectl''s name for --propagation')
            [CompletionResult]::new('--grace-period', '--grace-period', [CompletionResultType]::ParameterName, 'Seconds a pod gets to end; negative: the pod''s own')
            [CompletionResult]::new('--assume', '--assume', [CompletionResultType]::ParameterName, 'What is taken for granted of other controllers: known ones remove their own finalizers, or none does')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read a dump or snapshot file, a folder of them or - (standard input) instead of a cluster; may be repeated')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every object of the TYPE; without a TARGET: list all, not only the worst')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'One second of grace')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'No grace: pods are removed at once')
            [CompletionResult]::new('--assume-complete', '--assume-complete', [CompletionResultType]::ParameterName, 'The dump is everything there is: what it lacks does not exist')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;sweep' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose labels match, as in kubectl')
            [CompletionResult]::new('--field-selector', '--field-selector', [CompletionResultType]::ParameterName, 'Objects of the TYPE whose fields match, as in kubectl')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'The objects named in a manifest: a file, a folder or -; may be repeated')
            [CompletionResult]::new('--assume', '--assume', [CompletionResultType]::ParameterName, 'What is taken for granted of other controllers: known ones remove their own finalizers, or none does')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read a dump or snapshot file, a folder of them or - (standard input) instead of a cluster; may be repeated')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every object of the TYPE; without a TARGET: list all, not only the worst')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Look for manifests in sub-folders too')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'In all namespaces')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only show what would happen; nothing else is there yet')
            [CompletionResult]::new('--assume-complete', '--assume-complete', [CompletionResultType]::ParameterName, 'The dump is everything there is: what it lacks does not exist')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;resources' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read a dump or snapshot file, a folder of them or - (standard input) instead of a cluster; may be repeated')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'Count the objects of each resource (reads them all)')
            [CompletionResult]::new('--assume-complete', '--assume-complete', [CompletionResultType]::ParameterName, 'The dump is everything there is: what it lacks does not exist')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;snapshot' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The file to write, compressed if it ends in .gz; without it: standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The file to write, compressed if it ends in .gz; without it: standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace an existing file without asking')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;completion' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;version' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour the output')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace; without it the context''s')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address and port of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: this is insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate is checked for')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: 10s, 2m, 1h; 0 is for ever')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Don''t ask for compressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl does; nothing is cached')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to tell on standard error; from 6 on: every request')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-gc;help' {
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Who owns whom: dependents down, owners up')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'What a delete would do to every object, and why')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'What one pass of the collector would do (--dry-run)')
            [CompletionResult]::new('resources', 'resources', [CompletionResultType]::ParameterValue, 'What can be deleted, and what of that the collector watches')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'Write the cluster''s metadata into one file, for --from')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-gc;help;tree' {
            break
        }
        'kubectl-gc;help;plan' {
            break
        }
        'kubectl-gc;help;sweep' {
            break
        }
        'kubectl-gc;help;resources' {
            break
        }
        'kubectl-gc;help;snapshot' {
            break
        }
        'kubectl-gc;help;completion' {
            break
        }
        'kubectl-gc;help;version' {
            break
        }
        'kubectl-gc;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
