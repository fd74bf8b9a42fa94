.DEFAULT_GOAL := help
.PHONY: help run test chaos e2e lint fmt bench build stop
# More arguments for the tool behind a command: make test ARGS='-E "test(refund)"'
ARGS ?=

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## everything, from nothing: services, server, gateway simulator, demo traffic; Ctrl-C ends it
	@dev/run

test: ## all tests, from nothing; with ARGS, the test runner's, the server's alone
	@dev/test $(ARGS)

ROUNDS ?= 20
SEED ?=
chaos: ## everything breaks under load, round after round: make chaos ROUNDS=100; SEED= repeats a round
	@dev/chaos "$(ROUNDS)" "$(SEED)"

lint: ## formatting, clippy, and the scripts
	@dev/lint

fmt: ## format the code
	@cargo fmt
	@cd web && npm run --silent format

e2e: ## the console's tests in a browser; ARGS are Playwright's
	@dev/with-services test dev/web test $(ARGS)

bench: ## the benchmarks, or those that ARGS name: idle latency payments drain share list feed growth memory; --quick
	@dev/with-services bench cargo bench --locked --bench paydesk -- $(ARGS)

build: ## the optimised binary with its console, in target/release
	@dev/web build
	@cargo build --release --locked $(ARGS)

stop: ## end whatever the commands above left running; the data stays
	@dev/run --stop
	@dev/services down --all
