#!/usr/bin/env bash
# Runs the packages that hold random tests, and TestOracleRandom, with new seeds: the given number of times each, e.g. scripts/hunt.sh 20.
# What fails prints its seed; PANDO_SEED=<seed> replays it.
set -euo pipefail
times=${1:-10}
packages=$(grep -rl 'testkit\.Seed(' --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -v '^./tests$')
PANDO_SEED=random go test -timeout 60m -count "$times" $packages
PANDO_SEED=random go test -timeout 60m -count "$((2 * times))" -run '^TestOracleRandom$' ./tests
