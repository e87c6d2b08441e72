# Completion of kubectl-gc for bash: kubectl-gc itself knows the candidates.

_kubectl_gc() {
    # Bash breaks words at = and :, which belong to words here: only a space in the line begins a new one.
    local line="${COMP_LINE:0:COMP_POINT}" word i last=-1
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if ((i == COMP_CWORD)); then
            # Only what stands before the cursor.
            word="${line#"${line%%[![:space:]]*}"}"
        fi
        if ((last < 0)) || [[ "$line" == [[:space:]]* ]]; then
            words[++last]="$word"
        else
            words[last]+="$word"
        fi
        line="${line#"${line%%[![:space:]]*}"}"
        line="${line#"$word"}"
    done
    local current="${words[last]}"

    local directive=0 candidate
    local -a candidates=()
    while IFS= read -r candidate; do
        case "$candidate" in
        :[0-9]*) directive="${candidate#:}" ;;
        ?*) candidates+=("${candidate%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete -- "${words[@]:1}" 2>/dev/null)

    # Candidates of --flag=value are values.
    [[ "$current" == -*=* ]] && current="${current#*=}"
    # Bash replaces only what follows the last colon.
    local kept=""
    [[ "$COMP_WORDBREAKS" == *:* && "$current" == *:* ]] && kept="${current%"${current##*:}"}"
    COMPREPLY=()
    for candidate in "${candidates[@]}"; do
        COMPREPLY+=("${candidate#"$kept"}")
    done
    if ((directive & 2)); then
        compopt -o nospace 2>/dev/null
    fi
    if ((!(directive & 4) && ${#candidates[@]} == 0)); then
        compopt -o default -o bashdefault 2>/dev/null
    fi
}

complete -F _kubectl_gc kubectl-gc
