# shellcheck shell=bash
# Shared by the scripts of this folder; sourced, not run.
set -euo pipefail
shopt -s nullglob

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Waits so many seconds at most until the command succeeds.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

# For a process that outlives us: it must not keep our locks and our callers' pipes open.
close_files() {
  local fd
  for fd in /proc/"$BASHPID"/fd/*; do
    fd=${fd##*/}
    if ((fd > 2)); then eval "exec $fd>&-"; fi
  done
}

# Installs something with apt where that is allowed, its output in a log; fails where it is not.
apt_install() {
  local log=$1 sudo=()
  shift
  if ((EUID != 0)); then sudo=(sudo -n); fi
  command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; } || return 1
  say "  installing $* with apt (once); log in $log"
  "${sudo[@]}" "$root/dev/install-services" "$@" </dev/null >"$log" 2>&1 || {
    say "  that failed: $(tail -n 1 "$log")"
    return 1
  }
}

# ── Children ─────────────────────────────────────────────────────────────────────────────────────
# Ctrl-C in a terminal reaches every process at once. A command started with `spawn` is in a session
# of its own, so that only we decide when it ends; should we be killed outright, it ends with us.

exec {use_lock}</dev/null
child=

# A shell that was itself started in the background inherits "ignore Ctrl-C" and could not trap it.
heed_signals() {
  [[ ${PAYDESK_DEV_SIGNALS:-} ]] || PAYDESK_DEV_SIGNALS=1 exec env --default-signal=INT,QUIT "$0" "$@"
  unset PAYDESK_DEV_SIGNALS
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# Starts a command and sets `child` to its pid.
spawn() {
  setsid setpriv --pdeathsig TERM env --default-signal=INT,QUIT "$@" </dev/null {use_lock}>&- &
  child=$!
}

# Runs a command and waits for it, where a signal to us can interrupt.
step() {
  local status=0
  spawn "$@"
  wait "$child" || status=$?
  child=
  return "$status"
}

# The pids in the session of a spawned command; those that ended and were not waited for don't count.
session() {
  { cat /proc/[0-9]*/stat 2>/dev/null || true; } |
    awk -v session="$1" '{ pid = $1; sub(/.*\) /, "") } $4 == session && $1 != "Z" { print pid }'
}

session_gone() { [[ ! $(session "$1") ]]; }

# Asks a spawned command, with all that it started, to end; after so many seconds makes it end.
end() {
  local pid
  kill -TERM -- "-$1" 2>/dev/null || kill -TERM "$1" 2>/dev/null || true
  if ! wait_for "$2" session_gone "$1"; then
    for pid in $(session "$1"); do kill -KILL "$pid" 2>/dev/null || true; done
  fi
}

# ── Services ─────────────────────────────────────────────────────────────────────────────────────

# An instance has one user at a time: what one started, another must not stop. Held until we end.
use_instance() {
  mkdir -p "$root/.dev/$1"
  exec {use_lock}>"$root/.dev/$1/use.lock"
  flock --nonblock "$use_lock"
}

# Starts an instance's services and sets DATABASE_URL and AMQP_URL. What was started is noted in
# a file, so that it is stopped later even if we are killed in between.
services_up() {
  step "$root/dev/services" up "$1" >>"$root/.dev/$1/started"
  # shellcheck source=/dev/null
  source "$root/.dev/$1/env"
}

# Stops what services_up started.
services_down() {
  local started=$root/.dev/$1/started service
  [[ -f $started ]] || return 0
  while read -r service; do
    "$root/dev/services" stop "$1" "$service" </dev/null {use_lock}>&- || true
  done < <(sort -u "$started")
  rm -f "$started"
}
