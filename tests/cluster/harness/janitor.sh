# Removes a folder when standard input closes and the programs whose pid files it holds have ended.
folder=$1
read -r _
tries=0
while [ "$tries" -lt 300 ]; do
    set -- "$folder"/*.pid
    [ -e "$1" ] || break
    sleep 0.1
    tries=$((tries + 1))
done
rm -rf "$folder"
