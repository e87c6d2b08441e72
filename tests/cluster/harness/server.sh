# Runs one program and ends it when standard input closes, which is what happens when the process that holds the other
# end is gone, for whatever reason. The arguments are the program and its own arguments; its pid is kept in $PID_FILE.
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
echo "$child" >"$PID_FILE"

# `read` is part of the shell, so that no other process is left behind when the program ends by itself.
(
    read -r _ <&3
    kill -TERM "$child"
    tries=0
    while [ "$tries" -lt 20 ] && kill -0 "$child"; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -KILL "$child"
) 2>/dev/null &
watcher=$!
exec 3<&-

wait "$child"
code=$?
kill "$watcher" 2>/dev/null
rm -f "$PID_FILE"
exit "$code"
