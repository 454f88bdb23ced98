# One recipe for each thing that a change must pass; `.ci/run` runs them one after the other.
# What they install, in pinned versions, goes into folders that git ignores.

set shell := ["bash", "-euo", "pipefail", "-c"]

export PATH := justfile_directory() / ".ci/.venv/bin:" + justfile_directory() / ".ci/node_modules/.bin:" + justfile_directory() / ".ci/.cargo-tools/bin:" + env("PATH")

# List the recipes
default:
    @just --list --unsorted

# Run everything that CI runs
ci:
    .ci/run

# Format the code and the contract
format: _buf
    cargo fmt --all
    buf format --write

# Check the format, and the lints with every warning an error
lint:
    cargo fmt --all --check
    cargo fmt --manifest-path engine/fuzz/Cargo.toml --check
    cargo clippy --workspace --all-targets -- -D warnings

# Check the contract: its style, and that it breaks no caller of the one in proto/baseline.binpb
contract: _buf
    buf format --diff --exit-code
    buf lint
    buf breaking --against proto/baseline.binpb

# Make the contract as it stands the one that later changes must not break (only for a release)
baseline: _buf
    buf build --exclude-source-info --output proto/baseline.binpb

# Check that the SDK and the engine break no program that was built against the commit in .ci/api-baseline
semver: _cargo-tools
    #!/usr/bin/env bash
    set -euo pipefail
    baseline=$(cat .ci/api-baseline)
    if ! git cat-file -e "$baseline^{commit}" 2> /dev/null; then
        echo "skipped: this checkout has no history back to $baseline" >&2
        exit
    fi
    cargo semver-checks --baseline-rev "$baseline" \
        --package sudoku-client --package sudoku-engine --only-explicit-features

# Check the licences and the origin of all dependencies
dependencies: _ci-tools
    cargo deny check bans licenses sources

# Build the documentation, with every warning an error
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Run the tests that need nothing but Rust
test:
    cargo test

# Abuse the server ten times harder than the tests do, and print what it took
abuse:
    ABUSE=10 cargo test --release -p sudoku-server --test abuse -- --nocapture --test-threads=1

# Run the engine's tests without code for any instruction set, as on a processor that we have no kernels for
portable:
    cargo clippy -p sudoku-engine --no-default-features --all-targets -- -D warnings
    cargo test -p sudoku-engine --no-default-features -- --skip large

# Run the engine's tests under AddressSanitizer; `just asan short` without the large sets (needs a nightly toolchain)
asan *short: (_with-nightly "asan" short)

# Fuzz the engine, each target for so many seconds (needs a nightly toolchain)
fuzz seconds="20": (_with-nightly "fuzz" seconds)

# Time the engine's parts; `just bench FILTER` only some of them
bench *filter:
    cargo bench -p sudoku-engine -- {{ filter }}

# Count the instructions of each engine a puzzle, in a fixed run on the AVX2 path (needs valgrind)
callgrind:
    .ci/callgrind

# Measure what one server on one core serves, and what the next adds (needs two cores, and Debian's package haproxy)
scaling *files:
    .ci/install debian haproxy
    cargo build --release -p sudoku-server -p sudoku-client
    benches/scaling.py {{ files }}

# Compare messages of puzzles with the whole file, and messages that come alone with the single engine
messages *files:
    cargo run --release -p sudoku-engine --example throughput -- --compare --repeat 3 {{ files }}

# Check that the SDK builds and works alone, without the command line's dependencies and without anything of a server
sdk:
    cargo clippy -p sudoku-client --no-default-features -- -D warnings
    dependencies=$(cargo tree -p sudoku-client --no-default-features --edges normal --prefix none); \
        ! grep -E '^(sudoku-server|clap|indicatif) ' <<< "$dependencies"
    features=$(cargo tree -p sdk-alone --edges features --prefix none); \
        grep -q '^tonic feature "channel"' <<< "$features" && ! grep '^tonic feature "\(server\|router\)"' <<< "$features"
    cargo test -p sdk-alone

# Package every crate, and build each from its package
package: _forget-packages
    CARGO_TARGET_DIR="{{ justfile_directory() }}/target" cargo package --workspace --exclude test-support

# Check that what the README shows is so, its first command in a fresh clone included
readme:
    python3 .ci/readme.py

# Drive the real server with clients in other languages
foreign: foreign-python foreign-node

# Only with gRPC's own client for Python, grpcurl, and the clients in examples
foreign-python:
    .ci/install python tests/foreign/python
    .ci/install python examples/python
    .ci/install npm examples/node
    cargo build -p sudoku-server
    tests/foreign/python/.venv/bin/pytest tests/foreign/python

# Only with gRPC's own client for Node
foreign-node:
    .ci/install npm tests/foreign/node
    cargo build -p sudoku-server
    node --test tests/foreign/node/*.test.js

# Build the server without any need of shared libraries, as target/static/sudoku-server (for the image)
static profile="release":
    cargo rustc --profile {{ profile }} -p sudoku-server --bin sudoku-server -- -C target-feature=+crt-static
    install -D "${CARGO_TARGET_DIR:-target}"/{{ if profile == "dev" { "debug" } else { profile } }}/sudoku-server \
        "${CARGO_TARGET_DIR:-target}"/static/sudoku-server

# Check what is in `deploy`, with the programs that operators run it with (Debian's packages, which root installs)
deploy: _deploy-programs alerts (static "dev")
    .ci/install python tests/deploy
    cargo build -p sudoku-server -p sudoku-client
    .ci/install npm tests/deploy
    tests/deploy/.venv/bin/pytest tests/deploy
    node --test tests/deploy/*.test.js

# Check what Prometheus is given: that each alert fires when it should, and not otherwise (needs promtool, of Debian's package
# prometheus)
alerts:
    @.ci/install debian promtool=prometheus
    @if command -v promtool > /dev/null; then \
        promtool check config deploy/prometheus/prometheus.yaml deploy/prometheus/kubernetes.yaml; \
        promtool test rules deploy/prometheus/alerts.test.yaml; \
    else \
        echo "skipped the alerts: no promtool (apt-get install prometheus)"; \
    fi

# cargo takes a package of the same version for the same package, and would build against those of an earlier run.
_forget-packages:
    cargo clean --quiet -p sudoku-engine -p sudoku-proto -p sudoku-server -p sudoku-client
    rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/sudoku-{engine,proto,server,client}-*

_buf:
    .ci/install npm .ci

_deploy-programs:
    .ci/install debian prometheus haproxy nginx buildah strace systemd-analyze=systemd

_ci-tools:
    .ci/install python .ci

_cargo-tools:
    .ci/install cargo .ci

# Without a nightly toolchain it says so and skips the rest: the sanitizer and the fuzzer are no part of stable Rust.
_with-nightly what *args:
    @if rustup run nightly cargo --version > /dev/null 2>&1; then \
        .ci/{{ what }} {{ args }}; \
    else \
        echo "skipped {{ what }}: no nightly toolchain (rustup toolchain install nightly)"; \
    fi
