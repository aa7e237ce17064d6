# SPDX-License-Identifier: MIT
# An X server that has no screen, for scripts that source this.
# shellcheck shell=bash

# Starts one, and sets DISPLAY and server. Its log goes to $1.
start_server() {
    local pipe
    pipe=$(mktemp -u)
    mkfifo "$pipe"
    # Without the option it starts anew after its last client, while which nobody can connect.
    Xvfb -noreset -displayfd 9 -screen 0 800x700x24 9>"$pipe" >"$1" 2>&1 &
    server=$!
    read -r DISPLAY <"$pipe"
    rm "$pipe"
    export DISPLAY=:$DISPLAY
}

stop_server() {
    kill "$server"
    wait "$server" 2>/dev/null || true
}
