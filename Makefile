.DEFAULT_GOAL := help
.PHONY: help run test lint fmt bench build stop
# More arguments for the tool behind a command: make test ARGS='-E "test(refund)"'
ARGS ?=

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## everything, from nothing: services, server, gateway simulator, demo traffic; Ctrl-C ends it
	@dev/run

test: ## all tests, from nothing; ARGS are the test runner's
	@dev/test $(ARGS)

lint: ## formatting, clippy, and the scripts
	@dev/lint

fmt: ## format the code
	@cargo fmt

bench: ## the benchmarks, or those that ARGS name: drain latency payments idle
	@dev/with-services bench cargo bench --locked --bench paydesk -- $(ARGS)

build: ## the optimised binary, in target/release
	@cargo build --release --locked $(ARGS)

stop: ## end whatever the commands above left running; the data stays
	@dev/run --stop
	@dev/services down --all
