# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of dev/services, and for it
# The services of compose.yaml, for a machine without the binaries; sourced by dev/services.

docker_find() { command -v docker >/dev/null && docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; }

docker_compose() {
  POSTGRES_PORT=$(port postgres) RABBITMQ_PORT=$(port rabbitmq) \
    docker compose --project-name "paydesk-$instance-$checkout" --file "$root/compose.yaml" "$@" {lock}>&-
}

docker_answers() { [[ $(docker_compose ps --status running --quiet "$1" 2>/dev/null) ]]; }
docker_launch() { docker_compose up --detach --wait "$1" >&2; }
docker_stop() { docker_compose stop "$1" >&2; }
docker_freeze() { docker_compose pause "$1" >&2; }
docker_thaw() { docker_compose unpause "$1" >/dev/null 2>&1 || true; }
