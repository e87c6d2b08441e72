# Completion of kubectl-gc for fish: kubectl-gc itself knows the candidates.

function __kubectl_gc_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l directive 0
    set -l candidates
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        if string match -qr '^:\d+$' -- $line
            set directive (string sub -s 2 -- $line)
        else if test -n "$line"
            set -a candidates $line
        end
    end
    # Candidates of --flag=value are values.
    set -l flag (string match -r '^-[^=]*=' -- $current)
    if set -q candidates[1]
        printf '%s\n' "$flag"$candidates
    else if test $directive -eq 0
        __fish_complete_path (string replace -r '^-[^=]*=' '' -- $current)
    end
end

complete -c kubectl-gc -f -a '(__kubectl_gc_complete)'
