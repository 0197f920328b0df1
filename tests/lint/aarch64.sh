#!/bin/sh
# What runs in the target compiles and links for aarch64, warnings as errors.
set -eu
cd "$(dirname "$0")/../.."
flags="-std=gnu11 -D_GNU_SOURCE -O2 -fPIC -Isrc -Werror -Wall -Wextra -Wpedantic -Wshadow
	-Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
	-Wimplicit-fallthrough"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2046,SC2086
aarch64-linux-gnu-gcc $flags -shared -Wl,-z,defs \
	-Wl,--version-script=src/vantage/agent/exports.map -o "$folder/libfathom-agent.so" \
	$(find src/vantage/agent -name '*.c' ! -name '*_x86_64.c' ! -name 'trace_frames*.c' \
		! -name 'trace_stubs*.c' ! -name 'trace_evaluator*.c') \
	src/vantage/agent/trace_evaluator_none.c src/vantage/agent/trace_frames_none.c \
	src/vantage/agent/trace_stubs_none.c -lpthread -ldl
echo "the agent links for aarch64"
