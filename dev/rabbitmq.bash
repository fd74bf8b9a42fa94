# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of dev/services, and for it
# RabbitMQ from the machine's binaries; sourced by dev/services.

rabbitmq_log=$state/rabbitmq.log
rabbitmq_ports=(rabbitmq rabbitmq-dist rabbitmq-epmd)
rabbitmq_data=$state/rabbitmq
rabbitmq_mark=PAYDESK_SERVICE=rabbitmq:$instance:$root

# Finds the server's own scripts. Debian's wrappers of the same name in /usr/sbin are of no use: they
# change to a system user and to the system's folders.
rabbitmq_find() {
  local dir
  rabbitmq_bin=
  for dir in "$(dirname "$(readlink -f "$(command -v rabbitmq-server || echo /)")")" /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin; do
    if [[ -x $dir/rabbitmq-server && -f $dir/rabbitmq-env ]]; then rabbitmq_bin=$dir; fi
  done
  [[ $rabbitmq_bin ]] && command -v erl >/dev/null
}

# Becomes a command with all that tells this node from any other on the machine: name, folders,
# cookie (in HOME), ports and port mapper. Nothing of it listens beyond loopback.
exec_rabbitmq() {
  cd "$rabbitmq_data" || exit
  close_files
  exec env -i PATH="$PATH" HOME="$rabbitmq_data" LANG=C.UTF-8 ERL_CRASH_DUMP_SECONDS=0 \
    ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$(port rabbitmq-epmd)" \
    RABBITMQ_NODENAME="paydesk-$instance-$checkout@localhost" \
    RABBITMQ_DIST_PORT="$(port rabbitmq-dist)" \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
    RABBITMQ_CTL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
    RABBITMQ_CONF_ENV_FILE=/dev/null \
    RABBITMQ_CONFIG_FILE="$rabbitmq_data/rabbitmq.conf" \
    RABBITMQ_ADVANCED_CONFIG_FILE="$rabbitmq_data/advanced.config" \
    RABBITMQ_ENABLED_PLUGINS_FILE="$rabbitmq_data/enabled_plugins" \
    RABBITMQ_MNESIA_BASE="$rabbitmq_data/mnesia" \
    RABBITMQ_LOG_BASE="$rabbitmq_data/log" \
    RABBITMQ_LOGS="$rabbitmq_log" \
    RABBITMQ_PID_FILE="$rabbitmq_data/pid" \
    "$@"
}

# The pids of this node's processes that have one of the given names. They are found by a mark in their
# environment, which holds even if the state folder was deleted under them.
rabbitmq_processes() {
  local file comm
  while read -r file; do
    if read -r comm <"${file%environ}comm" && [[ " $* " == *" $comm "* ]]; then basename "${file%/environ}"; fi
  done 2>/dev/null < <(grep -lzxFs -- "$rabbitmq_mark" /proc/[0-9]*/environ)
}

rabbitmq_pid() { rabbitmq_processes beam.smp | grep .; }

# A broker that is up greets a client; one that still starts, hangs or is frozen does not.
rabbitmq_answers() {
  local byte=
  [[ $(rabbitmq_pid) ]] || return
  (
    exec {amqp}<>"/dev/tcp/127.0.0.1/$(port rabbitmq)" || exit
    printf 'AMQP\0\0\011\001' >&"$amqp"
    read -r -N 1 -t 5 -u "$amqp" byte
    [[ $byte == $'\1' ]]
  ) 2>/dev/null
}

rabbitmq_launch() {
  local server
  if [[ ! -f $rabbitmq_data/paydesk-ready ]]; then
    say "  making a data folder for RabbitMQ"
    rm -rf "$rabbitmq_data"
    mkdir -p "$rabbitmq_data/mnesia" "$rabbitmq_data/log"
    echo '[].' >"$rabbitmq_data/enabled_plugins"
  fi
  cat >"$rabbitmq_data/rabbitmq.conf" <<-CONF
	listeners.tcp.1 = 127.0.0.1:$(port rabbitmq)
	disk_free_limit.absolute = 50MB
	CONF
  : >"$rabbitmq_log"
  # A port mapper of our own, before Erlang starts one that nobody ends.
  (exec_rabbitmq "$rabbitmq_mark" setsid "$(rabbitmq_epmd)" </dev/null >"$rabbitmq_data/epmd.out" 2>&1) &
  disown
  (exec_rabbitmq "$rabbitmq_mark" setsid "$rabbitmq_bin/rabbitmq-server" </dev/null >"$rabbitmq_data/server.out" 2>&1) &
  server=$!
  disown
  wait_for 120 rabbitmq_answers_or_ended "$server"
  if ! rabbitmq_answers; then
    cat "$rabbitmq_data/server.out" >>"$rabbitmq_log"
    return 1
  fi
  touch "$rabbitmq_data/paydesk-ready"
}

rabbitmq_answers_or_ended() { rabbitmq_answers || ! kill -0 "$1" 2>/dev/null; }
rabbitmq_epmd() { command -v epmd || printf '%s\n' /usr/lib/erlang/erts-*/bin/epmd; }

rabbitmq_stop() {
  rabbitmq_thaw
  signal TERM "$(rabbitmq_processes beam.smp)"
  wait_for 15 rabbitmq_gone beam.smp || true
  signal KILL "$(rabbitmq_processes beam.smp epmd)"
  wait_for 10 rabbitmq_gone beam.smp epmd
}

rabbitmq_gone() { [[ ! $(rabbitmq_processes "$@") ]]; }
rabbitmq_freeze() { signal STOP "$(rabbitmq_processes beam.smp)"; }
rabbitmq_thaw() { signal CONT "$(rabbitmq_processes beam.smp)"; }
