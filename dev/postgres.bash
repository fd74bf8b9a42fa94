# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of dev/services, and for it
# PostgreSQL from the machine's binaries; sourced by dev/services.

postgres_log=$state/postgres.log
postgres_ports=(postgres)

# The server refuses to run as root, and its user may not be able to enter the checkout: then the
# data is elsewhere, under a name that only this checkout and instance have.
postgres_data=$state/postgres
postgres_elsewhere=/var/tmp/paydesk-$checkout-$instance
if [[ -f $state/postgres.location && $(<"$state/postgres.location") == "$postgres_elsewhere" ]]; then
  postgres_data=$postgres_elsewhere
fi
postgres_user=$(id -un)
if ((EUID == 0)); then postgres_user=$(id -un postgres 2>/dev/null || echo nobody); fi

# The environment is cleared: a PGDATA or PGPORT must not lead elsewhere.
as_postgres() {
  local user=()
  if ((EUID == 0)); then
    user=(setpriv --reuid "$postgres_user" --regid "$(id -g "$postgres_user")" --init-groups)
  fi
  (
    close_files
    cd / && exec "${user[@]}" env -i PATH="$PATH" LC_ALL=C.UTF-8 "$@"
  )
}

# Finds the newest server from version 15 on, or the one of the version that made the data.
postgres_find() {
  local dir version best=14 made_by=
  postgres_bin=
  if [[ -f $postgres_data/PG_VERSION ]]; then made_by=$(<"$postgres_data/PG_VERSION"); fi
  for dir in "$(dirname "$(readlink -f "$(command -v postgres || echo /)")")" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
    [[ -x $dir/postgres && -x $dir/initdb && -x $dir/pg_ctl ]] || continue
    [[ $("$dir/postgres" --version) =~ \)\ ([0-9]+) ]] || continue
    version=${BASH_REMATCH[1]}
    ((version > 14)) && [[ $version == "$made_by" ]] && version=999
    if ((version > best)); then best=$version postgres_bin=$dir; fi
  done
  [[ $postgres_bin ]]
}

postgres_pid() {
  local pid=
  if [[ -s $postgres_data/postmaster.pid ]]; then read -r pid <"$postgres_data/postmaster.pid"; fi
  [[ $pid && /proc/$pid/cwd -ef $postgres_data ]] && echo "$pid"
}

# The server before its children, which it would replace.
postgres_processes() {
  local dir comm
  postgres_pid
  for dir in /proc/[0-9]*; do
    if [[ $dir/cwd -ef $postgres_data ]] && read -r comm <"$dir/comm" && [[ $comm == postgres ]]; then echo "${dir#/proc/}"; fi
  done 2>/dev/null
}

postgres_answers() {
  [[ $(postgres_pid) ]] && as_postgres "$postgres_bin/pg_isready" -q -t 5 -h 127.0.0.1 -p "$(port postgres)" -U paydesk -d paydesk
}

postgres_make() {
  say "  making a data folder for PostgreSQL"
  rm -rf "$postgres_data"
  mkdir -m 700 "$postgres_data"
  if ((EUID == 0)); then
    chown "$postgres_user" "$postgres_data" || true
    if ! as_postgres test -w "$postgres_data"; then
      rmdir "$postgres_data"
      postgres_data=$postgres_elsewhere
      if [[ -e $postgres_data && $(stat -c %U "$postgres_data") != "$postgres_user" ]]; then
        die "$postgres_data belongs to another user; remove it"
      fi
      # Left there by an earlier checkout at the same place.
      postgres_stop
      rm -rf "$postgres_data"
      mkdir -m 700 "$postgres_data"
      chown "$postgres_user" "$postgres_data"
      echo "$postgres_data" >"$state/postgres.location"
    fi
  fi
  as_postgres "$postgres_bin/initdb" -D "$postgres_data" -U paydesk -A trust -E UTF8 --locale=C.UTF-8 \
    --no-sync --no-instructions >"$postgres_log" 2>&1 || return
  as_postgres tee -a "$postgres_data/postgresql.conf" >/dev/null <<-CONF || return
	listen_addresses = '127.0.0.1'
	unix_socket_directories = ''
	max_connections = 300
	timezone = 'UTC'
	log_timezone = 'UTC'
	CONF
  as_postgres "$postgres_bin/postgres" --single -D "$postgres_data" postgres \
    <<<'CREATE DATABASE paydesk' >>"$postgres_log" 2>&1 || return
  # Written last: a folder without it was left half-made.
  as_postgres touch "$postgres_data/paydesk-ready"
}

postgres_launch() {
  local pid=
  if [[ ! -f $postgres_data/paydesk-ready ]]; then postgres_make || return; fi
  # Nothing of ours runs now. After a crash the pid may be another program's, whom the server would
  # take for a rival.
  if [[ -s $postgres_data/postmaster.pid ]]; then read -r pid <"$postgres_data/postmaster.pid"; fi
  if [[ $pid ]] && kill -0 "$pid" 2>/dev/null; then rm -f "$postgres_data/postmaster.pid"; fi
  as_postgres "$postgres_bin/pg_ctl" start -w -t 60 -D "$postgres_data" -o "-c port=$(port postgres)" \
    </dev/null >"$postgres_log" 2>&1
}

postgres_stop() {
  local pid
  postgres_thaw
  pid=$(postgres_pid) || true
  if [[ $pid ]]; then
    kill -INT "$pid" # "fast": open transactions are rolled back
    wait_for 20 postgres_gone || true
  fi
  # Also what a killed server left: a new one can't start beside its children.
  signal KILL "$(postgres_processes)"
  wait_for 10 postgres_gone
}

postgres_gone() { [[ ! $(postgres_processes) ]]; }
postgres_freeze() { signal STOP "$(postgres_processes)"; }
postgres_thaw() { signal CONT "$(postgres_processes)"; }
